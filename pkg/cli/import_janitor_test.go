// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

const (
	janitorWorkload = `apiVersion: apps/v1
kind: Deployment
metadata: {name: kube-janitor}
spec:
  template:
    spec:
      containers:
      - name: janitor
        image: hjacobs/kube-janitor:23.7.0
        args: [%s]
        env: [%s]
`
	janitorRule = `---
rules:
- id: a
  resources: [deployments, configmaps, persistentvolumeclaims, events]
  jmespath: metadata.labels.a
  ttl: 1d
`
	markedSecret = `---
apiVersion: v1
kind: Secret
metadata:
  name: marked
  annotations: {janitor/ttl: 7d}
`
)

// TestImportOfIncludedResources: kube-janitor looks at the options before it looks at rules and annotations.
func TestImportOfIncludedResources(t *testing.T) {
	t.Parallel()
	const (
		leftOut = "standard input:14: note: rule a: %s are left out: kube-janitor looks only at %s   [N-IMP-001]\n" +
			"  hint: if the rule shall delete them, change which resources kube-janitor includes or excludes, and import again\n"
		excludes = "standard input:14: note: rule a: %s are left out: kube-janitor excludes %[1]s   [N-IMP-001]\n"
		marked   = "standard input:23: note: marked: metadata.annotations: are not read: kube-janitor "
	)
	for name, test := range map[string]struct {
		args, env string
		// rule and marks are the kinds of the two Cleaners.
		rule, marks string
		want        []string
	}{
		"nothing is said": {"", "", "Deployment ConfigMap PersistentVolumeClaim", "Secret", []string{fmt.Sprintf(excludes, "events")}},
		"all": {
			"'--include-resources=pods,all'", "", "Deployment ConfigMap PersistentVolumeClaim", "Secret",
			[]string{fmt.Sprintf(excludes, "events")},
		},
		"included": {"--include-resources, deployments", "", "Deployment", "Deployment", []string{
			fmt.Sprintf(leftOut, "configmaps", "deployments"), fmt.Sprintf(leftOut, "persistentvolumeclaims", "deployments"),
			fmt.Sprintf(excludes, "events"), marked + "looks only at deployments",
		}},
		"excluded": {
			"'--exclude-resources=configmaps,secrets'", "", "Deployment PersistentVolumeClaim Event", "*",
			[]string{fmt.Sprintf(excludes, "configmaps"), marked + "excludes secrets"},
		},
		"both": {
			"'--include-resources=configmaps,events,secrets', --exclude-resources=configmaps", "", "Event", "Secret Event",
			[]string{fmt.Sprintf(excludes, "configmaps"), fmt.Sprintf(leftOut, "deployments", "configmaps,events,secrets")},
		},
		"no kind of the rule": {
			"--include-resources=pods", "", "", "Pod",
			[]string{fmt.Sprintf(leftOut, "deployments", "pods"), fmt.Sprintf(leftOut, "configmaps", "pods")},
		},
		"nothing at all": {"--include-resources=", "", "", "", []string{
			"standard input:14: note: rule a: deployments are left out: kube-janitor includes no resources", marked + "includes no resources",
		}},
		"the environment": {
			"", "{name: INCLUDE_RESOURCES, value: 'deployments,configmaps'}, {name: EXCLUDE_RESOURCES, value: configmaps}",
			"Deployment", "Deployment",
			[]string{fmt.Sprintf(excludes, "configmaps")},
		},
		"a flag and the environment": {
			"--include-resources=configmaps", "{name: INCLUDE_RESOURCES, value: deployments}", "ConfigMap", "ConfigMap",
			[]string{fmt.Sprintf(leftOut, "deployments", "configmaps")},
		},
	} {
		got := call(t.Context(), t, fmt.Sprintf(janitorWorkload, test.args, test.env)+janitorRule+markedSecret, nil, "import", "kube-janitor", "-", "--keep-action")
		rule, marks := kindsOf(got.out, "kube-janitor-a"), kindsOf(got.out, "kube-janitor-marks")
		if got.code != codes.ExitDone || rule != test.rule || marks != test.marks && (test.marks != "*" || marks == "") {
			t.Errorf("%s: exit %d, the rule's kinds are %q, and %q have marks, want %q and %q:\n%s", name, got.code, rule, marks, test.rule, test.marks, got.errOut)
		}
		for _, want := range test.want {
			if !strings.Contains(got.errOut, want) {
				t.Errorf("%s: %q is not in:\n%s", name, want, got.errOut)
			}
		}
	}
}

// kindsOf are the kinds that the Cleaner of a name selects.
func kindsOf(text, name string) string {
	_, after, _ := strings.Cut(text, "name: "+name+"\n")
	after, _, _ = strings.Cut(after, "---\n")
	var kinds []string
	for line := range strings.Lines(after) {
		if kind, ok := strings.CutPrefix(strings.TrimSpace(line), "kind: "); ok {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, " ")
}

// TestImportOfJanitorsEnvironment: a variable is the default of a flag.
func TestImportOfJanitorsEnvironment(t *testing.T) {
	t.Parallel()
	const unknown = `standard input:11: warning: kube-janitor: spec.template.spec.containers[0].env[0].valueFrom: ` +
		`INCLUDE_NAMESPACES is not carried over: its value is kept elsewhere   [W-IMP-001]` + "\n" +
		"  hint: write the text itself as its value, and import again: the Cleaners select nothing because of their condition flags-not-carried-over\n"
	const from = "{name: INCLUDE_NAMESPACES, valueFrom: {configMapKeyRef: {name: a, key: b}}}"
	for name, test := range map[string]struct {
		args, env, namespaces, want string
		code                        int
	}{
		"namespaces": {
			"", "{name: INCLUDE_NAMESPACES, value: 'a,b'}, {name: EXCLUDE_NAMESPACES, value: c}, {name: OTHER, valueFrom: {}}",
			"in (a,b),kubernetes.io/metadata.name notin (c)", "", codes.ExitDone,
		},
		"a flag wins":            {"--exclude-namespaces, d", "{name: EXCLUDE_NAMESPACES, value: c}", "notin (d)", "", codes.ExitDone},
		"the last one wins":      {"", "{name: EXCLUDE_NAMESPACES, value: c}, {name: EXCLUDE_NAMESPACES, value: d}", "notin (d)", "", codes.ExitDone},
		"how it runs":            {"--once, -d, --wait-after-delete=5, --parallelism, '2'", "", "notin (kube-system)", "", codes.ExitDone},
		"all":                    {"--include-namespaces=all", "{name: INCLUDE_NAMESPACES, value: a}", "notin (kube-system)", "", codes.ExitDone},
		"an empty one":           {"", "{name: INCLUDE_NAMESPACES}", "in (),kubernetes.io/metadata.name notin (kube-system)", "", codes.ExitDone},
		"from elsewhere":         {"", from, "notin (kube-system)", unknown, codes.ExitPartial},
		"a flag, from elsewhere": {"--include-namespaces=a", from, "in (a),kubernetes.io/metadata.name notin (kube-system)", "", codes.ExitDone},
		"a source of variables": {
			"", "]\n        envFrom: [{configMapRef: {name: a}}", "notin (kube-system)",
			"standard input:12: warning: kube-janitor: spec.template.spec.containers[0].envFrom: is not carried over: it may set INCLUDE_RESOURCES, EXCLUDE_RESOURCES, INCLUDE_NAMESPACES, EXCLUDE_NAMESPACES",
			codes.ExitPartial,
		},
	} {
		got := call(t.Context(), t, fmt.Sprintf(janitorWorkload, test.args, test.env)+janitorRule, nil, "import", "kube-janitor", "-")
		if got.code != test.code || !strings.Contains(got.out, " kubernetes.io/metadata.name "+test.namespaces+"\n") ||
			!strings.Contains(got.errOut, test.want) || test.want == "" && strings.Contains(got.errOut, "NAMESPACES") {
			t.Errorf("%s: exit %d, want %q and %q:\n%s%s", name, got.code, test.namespaces, test.want, got.out, got.errOut)
		}
	}
}
