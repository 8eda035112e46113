// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// TestImportNamesTheLine of the condition that does not fit, and not that of the document.
func TestImportNamesTheLine(t *testing.T) {
	t.Parallel()
	const deleting = "apiVersion: policies.kyverno.io/v1\nkind: DeletingPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
		"  matchConstraints:\n    resourceRules:\n    - {apiGroups: [''], apiVersions: [v1], resources: [pods]}\n  conditions:\n" +
		"  - name: good\n    expression: object.metadata.name == 'a'\n  - name: bad\n    expression: object.spec.none == 'a'\n"
	const cleanup = "apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
		"  match: {any: [{resources: {kinds: [Pod]}}]}\n  conditions:\n    all:\n    - {key: '{{ target.metadata.name }}', operator: Equals, value: a}\n" +
		"    - {key: '{{ target.spec.none }}', operator: Equals, value: b}\n"
	const rules = "rules:\n- id: a\n  resources: [pods]\n  ttl: 1d\n  jmespath: REPLACED\n"
	for name, test := range map[string]struct{ tool, text, want string }{
		"CEL":       {"kyverno", deleting, `standard input:13: warning: a: the condition "bad" is not carried over for the kind Pod`},
		"JMESPath":  {"kyverno", cleanup, `standard input:10: warning: a: the condition "condition-2" is not carried over for the kind Pod`},
		"a rule":    {"kube-janitor", strings.Replace(rules, "REPLACED", "keys(a)", 1), "standard input:5: warning: rule a: its jmespath is not carried over"},
		"of a kind": {"kube-janitor", strings.Replace(rules, "REPLACED", "spec.none == 'a'", 1), `standard input:5: warning: the condition "rule" is not carried over`},
	} {
		got := call(t.Context(), t, test.text, nil, "import", test.tool, "-")
		if got.code != codes.ExitPartial || !strings.Contains(got.errOut, test.want) {
			t.Errorf("%s: exit %d, want %q:\n%s", name, got.code, test.want, got.errOut)
		}
	}
}

// TestImportReadsTheAge of an object, which is a text, where a policy takes it for a time.
func TestImportReadsTheAge(t *testing.T) {
	t.Parallel()
	const policy = "apiVersion: policies.kyverno.io/v1\nkind: DeletingPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
		"  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods]}]}\n  conditions:\n  - name: old\n    expression: "
	const since = "now - timestamp(object.metadata.creationTimestamp) > duration('72h')"
	const before = "timestamp(object.metadata.creationTimestamp) < timestamp('2024-01-01T00:00:00Z')"
	const until = "timestamp(object.metadata.creationTimestamp) + duration('1h') < now"
	for expression, test := range map[string]struct {
		want string
		said bool
	}{
		"now() - object.metadata.creationTimestamp > duration('72h')":                 {since, true},
		"time.now() - timestamp(object.metadata.creationTimestamp) > duration('72h')": {since, false},
		"object.metadata.creationTimestamp < timestamp('2024-01-01T00:00:00Z')":       {before, true},
		"(object.metadata.creationTimestamp < timestamp('2024-01-01T00:00:00Z'))":     {"(" + before + ")", true},
		"object.metadata.creationTimestamp + duration('1h') < now()":                  {until, true},
		"object.metadata.creationTimestamp < '2024-01-01T00:00:00Z'":                  {"object.metadata.creationTimestamp < '2024-01-01T00:00:00Z'", false},
	} {
		got := call(t.Context(), t, policy+expression+"\n"+noFilters, nil, "import", "kyverno", "-")
		said := strings.Contains(got.errOut, "standard input:9: note: a: spec.conditions[0].expression: is carried over with timestamp(")
		if got.code != codes.ExitDone || !strings.Contains(got.out, "  "+test.want+"\n") && !strings.Contains(got.out, ": "+test.want+"\n") || said != test.said {
			t.Errorf("%s: exit %d, want %s:\n%s%s", expression, got.code, test.want, got.out, got.errOut)
		}
	}
}

// TestImportLeavesNothingOutSilently of what k8s-cleaner has.
func TestImportLeavesNothingOutSilently(t *testing.T) {
	t.Parallel()
	const text = `apiVersion: apps.projectsveltos.io/v1alpha1
kind: Cleaner
metadata: {name: a}
spec:
  schedule: "0 3 * * *"
  occurrenceThreshold: 3
  resourcePolicySet:
    action: Delete
    resourceSelectors:
    - {kind: Secret, group: "", version: v1, namespace: y}
---
apiVersion: apps.projectsveltos.io/v1alpha1
kind: Report
metadata: {name: a}
`
	got := call(t.Context(), t, text, nil, "import", "k8s-cleaner", "-")
	for _, want := range []string{
		"standard input:6: note: a: spec.occurrenceThreshold: here an object is acted on when it matches in 3 runs in a row",
		"standard input:8: note: a: spec.resourcePolicySet.action: is moved to spec.action",
		"standard input:12: note: a: is a Report of k8s-cleaner about a run, and is left out",
	} {
		if !strings.Contains(got.errOut, want) {
			t.Errorf("%q is not in:\n%s", want, got.errOut)
		}
	}
	if got.code != codes.ExitDone || !strings.Contains(got.out, `namespace: "y"`) || strings.Contains(got.errOut, "protected objects") {
		t.Errorf("exit %d:\n%s%s", got.code, got.out, got.errOut)
	}
}

// TestImportSaysWhatWouldBeRefused: what runs in k8s-cleaner, and would be left alone or fail here.
func TestImportSaysWhatWouldBeRefused(t *testing.T) {
	t.Parallel()
	const text = `apiVersion: apps.projectsveltos.io/v1alpha1
kind: Cleaner
metadata: {name: a}
spec:
  schedule: "0 3 * * *"
  action: Transform
  transform: "function transform() obj.rules = nil return {resource = obj} end"
  resourcePolicySet:
    resourceSelectors:
    - kind: Role
      group: rbac.authorization.k8s.io
      version: v1
      metricSource:
        url: http://prometheus.monitoring.svc:9090
        secretRef: {namespace: NAMESPACE, name: login}
      metricQueries:
      - {name: up, query: up}
`
	notes := []string{
		"standard input:10: note: a: resourceSelectors[0].kind: Role is of RBAC: a Transform may change it only with consent ",
		"standard input:15: note: a: resourceSelectors[0].metricSource.secretRef: names a Secret of another namespace than the Service's, which is not sent to it ",
	}
	for namespace, want := range map[string][]string{"team": notes, "monitoring": notes[:1]} {
		got := call(t.Context(), t, strings.Replace(text, "NAMESPACE", namespace, 1), nil, "import", "k8s-cleaner", "--keep-action", "-")
		for _, note := range want {
			if !strings.Contains(strings.Join(strings.Fields(got.errOut), " "), note) {
				t.Errorf("%s: %q is not in:\n%s", namespace, note, got.errOut)
			}
		}
		if strings.Count(got.errOut, "secretRef") != len(want)-1 {
			t.Errorf("%s:\n%s", namespace, got.errOut)
		}
	}
}

// TestImportOfRulesThatDiffer: a rule that has no Cleaner, or one that finds other objects, has a line.
func TestImportOfRulesThatDiffer(t *testing.T) {
	t.Parallel()
	const rules = "rules:\n- id: a\n  resources: [persistentvolumeclaims]\n  ttl: TTL\n  jmespath: _context.pvc_is_"
	for name, test := range map[string]struct{ text, want string }{
		"not mounted":    {strings.Replace(rules, "TTL", "1d", 1) + "not_mounted\n", "standard input:5: warning: rule a: finds more than its Cleaner: claims that no Pod mounts but a workload"},
		"not referenced": {strings.Replace(rules, "TTL", "1d", 1) + "not_referenced\n", "standard input:5: warning: rule a: finds more than its Cleaner: claims that no workload names but a Pod"},
	} {
		got := call(t.Context(), t, test.text, nil, "import", "kube-janitor", "-")
		if got.code != codes.ExitPartial || strings.Count(got.errOut, "warning") != 1 || !strings.Contains(got.errOut, test.want) {
			t.Errorf("%s: exit %d, want %q:\n%s", name, got.code, test.want, got.errOut)
		}
	}
	kept := call(t.Context(), t, strings.Replace(rules, "TTL", "forever", 1)+"not_mounted\n", nil, "import", "kube-janitor", "-")
	const want = "standard input:2: note: rule a: ttl forever keeps what the rule matches, so no Cleaner was written for it"
	if !strings.Contains(kept.errOut, want) {
		t.Errorf("for ever: exit %d, want %q:\n%s", kept.code, want, kept.errOut)
	}
	both := strings.Replace(rules, "TTL", "1d", 1) + "not_mounted && _context.pvc_is_not_referenced\n"
	if got := call(t.Context(), t, both, nil, "import", "kube-janitor", "-"); got.code != codes.ExitDone {
		t.Errorf("both: exit %d:\n%s", got.code, got.errOut)
	}
}

// TestImportOfAnExcludeThatKnowsTheMaker says that nothing is selected.
func TestImportOfAnExcludeThatKnowsTheMaker(t *testing.T) {
	t.Parallel()
	const policy = "apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
		"  match: {any: [{resources: {kinds: [Pod, ConfigMap]}}]}\n  exclude: {any: [{clusterRoles: [cluster-admin]}]}\n"
	got := call(t.Context(), t, policy, nil, "import", "kyverno", "-")
	const want = "  hint: so everything that match selects counts as excluded, and the Cleaner selects nothing until you replace its condition not-excluded with one in CEL\n"
	if got.code != codes.ExitPartial || !strings.Contains(got.errOut, want) {
		t.Errorf("exit %d, want %q:\n%s", got.code, want, got.errOut)
	}
}

// TestImportOfAnotherFile that is no manifest at all.
func TestImportOfAnotherFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "passwd")
	must(t, os.WriteFile(file, []byte("root:x:0:0:root:/root:/bin/bash\n"), 0o600))
	got := call(t.Context(), t, "", nil, "import", "kyverno", file)
	if want := "error: there is no CleanupPolicy,"; got.code != codes.ExitError || !strings.Contains(got.errOut, want) || !strings.Contains(got.errOut, "in "+file) {
		t.Errorf("exit %d, want %q:\n%s", got.code, want, got.errOut)
	}
}
