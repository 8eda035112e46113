// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// importScreens are what users see, by the golden file's name: the arguments after "import".
var importScreens = map[string]string{
	"k8s-cleaner":        "k8s-cleaner testdata/import/k8s-cleaner.yaml",
	"k8s-cleaner-delete": "k8s-cleaner testdata/import/k8s-cleaner.yaml --keep-action",
	"kyverno":            "kyverno testdata/import/kyverno.yaml",
	"kyverno-lost":       "kyverno testdata/import/kyverno-lost.yaml",
	"kyverno-ttl":        "kyverno testdata/import/kyverno-ttl.yaml --keep-action",
	"janitor-rules":      "kube-janitor testdata/import/janitor-rules.yaml",
	"janitor":            "kube-janitor testdata/import/janitor.yaml --keep-action",
	"mistyped":           "kivverno testdata/import/kyverno.yaml",
	"nothing-near":       "terraform testdata/import/kyverno.yaml",
	"no-tool":            "",
	"no-file":            "kyverno",
	"both":               "kyverno testdata/import/kyverno.yaml --from-cluster",
	"nothing":            "kyverno testdata/import/janitor-rules.yaml",
	"nothing-janitor":    "kube-janitor testdata/import/kyverno.yaml",
	"broken":             "kyverno testdata/import/broken.yaml",
}

func TestImportScreens(t *testing.T) {
	t.Parallel()
	for file, line := range importScreens {
		args := append([]string{"import"}, strings.Fields(line)...)
		golden(t, "import-"+file+".txt", args, call(t.Context(), t, "", nil, args...))
	}
}

// TestImportPassesLint: what import writes has no errors, whatever was lost.
func TestImportPassesLint(t *testing.T) {
	t.Parallel()
	for file, line := range importScreens {
		got := call(t.Context(), t, "", nil, append([]string{"import"}, strings.Fields(line)...)...)
		if got.out == "" {
			continue
		}
		if linted := call(t.Context(), t, got.out, nil, "lint", "-f", "-"); linted.code != codes.ExitDone {
			t.Errorf("%s: lint exits with %d:\n%s%s", file, linted.code, linted.out, linted.errOut)
		}
	}
}

// TestImportExits: 4 when something was not carried over.
func TestImportExits(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]int{
		"k8s-cleaner": codes.ExitPartial, "kyverno": codes.ExitPartial, "mistyped": codes.ExitUsage, "nothing": codes.ExitError, "broken": codes.ExitError,
		"janitor": codes.ExitPartial,
	} {
		if got := call(t.Context(), t, "", nil, append([]string{"import"}, strings.Fields(importScreens[file])...)...); got.code != want {
			t.Errorf("%s exits with %d, want %d:\n%s", file, got.code, want, got.errOut)
		}
	}
	const whole = "apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: a}\nspec: {schedule: '@daily', match: {any: [{resources: {kinds: [Pod]}}]}}\n"
	if got := call(t.Context(), t, whole+noFilters, nil, "import", "kyverno", "-"); got.code != codes.ExitDone || !strings.Contains(got.errOut, "1 Cleaner written") {
		t.Errorf("what is carried over wholly exits with %d:\n%s", got.code, got.errOut)
	}
}

// TestImportSaysWhatLintRefuses: what lint would refuse is not written, and it is said at the line of the source.
func TestImportSaysWhatLintRefuses(t *testing.T) {
	t.Parallel()
	policy := func(kinds, rest string) string {
		return "apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
			"  match: {any: [{resources: {kinds: [" + kinds + "]}}]}\n  " + rest + "\n"
	}
	cleaner := func(kind, script string) string {
		return "apiVersion: apps.projectsveltos.io/v1alpha1\nkind: Cleaner\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n  action: Scan\n" +
			"  resourcePolicySet:\n    resourceSelectors:\n    - group: apps\n      version: v1\n      kind: " + kind +
			"\n      evaluate: \"function evaluate() return {" + script + " = true} end\"\n"
	}
	for name, test := range map[string]struct {
		tool, text string
		written    bool
		want       string
	}{
		"a number for a label": {
			"kyverno", policy("Pod", "conditions: {all: [{key: '{{ target.metadata.labels.n }}', operator: Equals, value: 2}]}"), true,
			`the condition "condition" is not carried over for the kind Pod: `,
		},
		"a field that one kind lacks": {
			"kyverno", policy("ConfigMap, Job", "conditions: {all: [{key: '{{ target.data.a }}', operator: Equals, value: b}]}"), true,
			"for the kind Job: has(object.data) && has(object.data.a) && object.data.a == 'b': undefined field 'data'",
		},
		"a kind in the plural": {"k8s-cleaner", cleaner("Deployments", "matching"), false, `Kubernetes has no kind Deployments in apps/v1; did you mean "Deployment"?`},
		"a result that nobody reads": {
			"k8s-cleaner", cleaner("Deployment", "match"), false, `the Cleaner was not written: the script never sets "matching"`,
		},
		"a mistyped field": {
			"kyverno", policy("Pod", "conditionz: {all: [{key: '{{ target.metadata.name }}', operator: Equals, value: b}]}"), true,
			`spec.conditionz: is not known to import, and may narrow the policy; did you mean "conditions"?`,
		},
	} {
		got := call(t.Context(), t, test.text, nil, "import", test.tool, "-", "--keep-action")
		if got.code != codes.ExitPartial || (got.out != "") != test.written || !strings.Contains(got.errOut, test.want) {
			t.Errorf("%s: exit %d, want %q:\n%s%s", name, got.code, test.want, got.out, got.errOut)
		}
		if got.out == "" {
			continue
		}
		if linted := call(t.Context(), t, got.out, nil, "lint", "-f", "-"); linted.code != codes.ExitDone || !strings.Contains(got.out, `expression: "false"`) {
			t.Errorf("%s: lint exits with %d:\n%s%s%s", name, linted.code, got.out, linted.out, linted.errOut)
		}
	}
}

// TestImportLeavesOutRequests: a request that one cluster's operator has answered must not start a run in another.
func TestImportLeavesOutRequests(t *testing.T) {
	t.Parallel()
	const text = `apiVersion: apps.projectsveltos.io/v1alpha1
kind: Cleaner
metadata:
  name: a
  annotations:
    team: shop
    apps.projectsveltos.io/run-requested-at: "2026-11-24T16:02:34Z"
    apps.projectsveltos.io/cancel-run: a-1795230000
    apps.projectsveltos.io/observed-spec: 0f1e 1-2d3c
spec: {schedule: "0 3 * * *", resourcePolicySet: {resourceSelectors: [{group: "", version: v1, kind: Pod}]}}
`
	got := call(t.Context(), t, text, nil, "import", "k8s-cleaner", "-")
	if !strings.Contains(got.out, "team: shop") || strings.Contains(got.out, "apps.projectsveltos.io/run") ||
		strings.Contains(got.out, "cancel-run") || strings.Contains(got.out, "observed-spec") {
		t.Errorf("it writes\n%s%s", got.out, got.errOut)
	}
}

// TestImportOfNothingFromCluster names what was looked for there.
func TestImportOfNothingFromCluster(t *testing.T) {
	got := newSite(t).call(t.Context(), nil, "import", "kube-janitor", "--from-cluster")
	if got.code != codes.ExitError || !strings.Contains(got.errOut, "there is no Deployment or CronJob with the image of kube-janitor in the cluster") ||
		!strings.Contains(got.errOut, "hint: give its rules and the manifests with its annotations as files") {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.errOut)
	}
}

// TestImportSaysOnceWhatHasNoCopies, although two Cleaners have a kind in common.
func TestImportSaysOnceWhatHasNoCopies(t *testing.T) {
	t.Parallel()
	const rules = "rules:\n- {id: a, resources: [pods], ttl: 1d, jmespath: 'metadata.labels.a'}\n- {id: b, resources: [jobs, pods], ttl: 1d, jmespath: 'metadata.labels.b'}\n"
	got := call(t.Context(), t, rules, nil, "import", "kube-janitor", "-")
	if strings.Count(got.errOut, "Pod objects that a controller manages") != 1 || !strings.Contains(got.errOut, "; nor of finished Jobs") {
		t.Errorf("exit %d:\n%s%s", got.code, got.out, got.errOut)
	}
}

// TestImportQuotesWords: yes is true to Kubernetes, and a text in a label.
func TestImportQuotesWords(t *testing.T) {
	t.Parallel()
	const policy = "apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
		"  match: {any: [{resources: {kinds: [ConfigMap], selector: {matchLabels: {tmp: 'yes', old: 'Off'}}}}]}\n"
	got := call(t.Context(), t, policy, nil, "import", "kyverno", "-")
	if !strings.Contains(got.out, "value: \"yes\"\n") || !strings.Contains(got.out, "value: \"Off\"\n") {
		t.Errorf("exit %d:\n%s%s", got.code, got.out, got.errOut)
	}
}

// TestImportFromClusterWithoutKyverno is one line: what the API server measures at each request has no labels.
func TestImportFromClusterWithoutKyverno(t *testing.T) {
	got := newSite(t).call(t.Context(), nil, "import", "kyverno", "--from-cluster")
	const want = "error: there is no CleanupPolicy, ClusterCleanupPolicy or DeletingPolicy, and no object with the label cleanup.kyverno.io/ttl in the cluster   [E-IMP-001]\n"
	if got.code != codes.ExitError || got.out != "" || got.errOut != want {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.errOut)
	}
}

// TestImportNamesTheConditionOfExclude that blocks, in each selector.
func TestImportNamesTheConditionOfExclude(t *testing.T) {
	t.Parallel()
	const policy = "apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
		"  match: {any: [{resources: {kinds: [Pod, ConfigMap]}}]}\n  exclude:\n    any:\n    - resources: {kinds: [Pod], names: [a]}\n" +
		"    - resources: {names: [b], namespaceSelector: {matchLabels: {a: b}}}\n"
	got := call(t.Context(), t, policy, nil, "import", "kyverno", "-")
	if strings.Count(got.out, "name: not-excluded-2\n") != 2 || !strings.Contains(got.errOut, "hint: change the condition not-excluded-2 of the Cleaner") ||
		strings.Contains(got.errOut, "not-excluded of") {
		t.Errorf("exit %d:\n%s%s", got.code, got.out, got.errOut)
	}
}

// TestImportOfLabelsThatNobodyMaySee: what may not be listed is not taken for nothing.
func TestImportOfLabelsThatNobodyMaySee(t *testing.T) {
	got := newSite(t).call(t.Context(), nil, "import", "kyverno", "--from-cluster", "--as", "nobody")
	if got.code != codes.ExitPartial || got.out != "" ||
		!strings.Contains(got.errOut, "warning: it is not known which objects of ") ||
		!strings.Contains(got.errOut, " more have the label cleanup.kyverno.io/ttl: ") ||
		!strings.Contains(got.errOut, `User "nobody" cannot list resource`) ||
		!strings.HasSuffix(got.errOut, "0 Cleaners written; 1 thing was not carried over: see above\n") {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.errOut)
	}
}

// TestImportOfMistakes: a value of the wrong type is named with its field and line, in words.
func TestImportOfMistakes(t *testing.T) {
	t.Parallel()
	const policy = "apiVersion: kyverno.io/v2\nkind: CleanupPolicy\nmetadata:\n  name: a\n  namespace: NAMESPACE\nspec: {schedule: 0 3 * * *, match: MATCH}\n"
	filled := func(namespace, match string) string {
		return strings.NewReplacer("NAMESPACE", namespace, "MATCH", match).Replace(policy)
	}
	const matches = "{any: [{resources: {kinds: KINDS}}]}"
	for name, test := range map[string]struct{ tool, text, want string }{
		"a text that YAML takes for true": {
			"kyverno", filled("y", strings.Replace(matches, "KINDS", "[Pod]", 1)),
			"standard input:5: warning: a: metadata.namespace: must be a text, not true or false: nothing of it was carried over   [W-IMP-001]\n  hint: put it in quotes\n",
		},
		"no list": {
			"kyverno", filled("shop", strings.Replace(matches, "KINDS", "Pod", 1)),
			"standard input:6: warning: a: spec.match.any.resources.kinds: must be a list, not a text: nothing of it was carried over   [W-IMP-001]\n",
		},
		"no map": {
			"kyverno", filled("shop", "[]"),
			"standard input:6: warning: a: spec.match: must be a map of fields, not a list: nothing of it was carried over   [W-IMP-001]\n",
		},
		"a mistyped field": {
			"kyverno", filled("shop", "{any: [{resources: {kinds: [Pod], nmes: [a]}}]}"),
			`standard input:6: warning: a: spec.match.any[0].resources.nmes: is not known to import, and may narrow the policy; did you mean "names"?   [W-IMP-001]` + "\n" +
				`  hint: the Cleaner selects nothing until you replace its condition "not-carried-over-1" with one in CEL` + "\n",
		},
		"a newer field of a DeletingPolicy": {
			"kyverno", "apiVersion: policies.kyverno.io/v1\nkind: DeletingPolicy\nmetadata: {name: a}\nspec:\n  schedule: 0 3 * * *\n  onlyOnSundays: true\n" +
				"  matchConstraints: {matchPolicy: Exact, resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], scope: Namespaced, operations: ['*']}]}\n",
			"standard input:6: warning: a: spec.onlyOnSundays: is not known to import, and may narrow the policy   [W-IMP-001]\n" +
				`  hint: the Cleaner selects nothing until you replace its condition "not-carried-over-1" with one in CEL` + "\n",
		},
		"a rule": {
			"kube-janitor", "rules:\n- {id: a, resources: [pods], ttl: 1d}\n- id: b\n  resources: pods\n  ttl: 1d\n",
			"standard input:3: warning: resources: must be a list, not a text: no rule of the file was carried over   [W-IMP-001]\n",
		},
		"two Cleaners of a name": {
			"k8s-cleaner", strings.Repeat("---\napiVersion: apps.projectsveltos.io/v1alpha1\nkind: Cleaner\nmetadata:\n  name: a\nspec: {}\n", 2),
			"standard input:11: warning: a: metadata.name: is that of the Cleaner at standard input:2, too: kubectl apply keeps only the last one   [W-IMP-002]\n" +
				"  hint: remove one of them, or give it another name\n",
		},
		"a template of Helm": {
			"k8s-cleaner", "kind: Cleaner\nmetadata:\n  name: {{ .Release.Name }}\n",
			"  hint: it is a template: write its output to a file first, for example with helm template\n",
		},
		"a rule without a name and a condition": {
			"kube-janitor", "rules:\n- {id: a, resources: [services], ttl: 1d, jmespath: 'a'}\n- {resources: [pods], ttl: 1d}\n",
			"standard input:3: warning: rule 2: its jmespath is not carried over: it is missing   [W-IMP-001]\n",
		},
		"rules of another tool": {
			"kube-janitor", "rules:\n- {seriesQuery: a}\n",
			"error: there is nothing of kube-janitor, such as a rules file, a workload with its image, or an object with its annotations, in -   [E-IMP-001]\n",
		},
		"rules of another tool in a ConfigMap": {
			"kube-janitor", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: adapter}\ndata:\n  config.yaml: 'rules: [{seriesQuery: a}]'\n",
			"error: there is nothing of kube-janitor, such as a rules file, a workload with its image, or an object with its annotations, in -   [E-IMP-001]\n",
		},
	} {
		got := call(t.Context(), t, test.text, nil, "import", test.tool, "-")
		if got.code == codes.ExitDone || !strings.Contains(got.errOut, test.want) {
			t.Errorf("%s: exit %d, want %q:\n%s", name, got.code, test.want, got.errOut)
		}
	}
}

// TestImportTellsDifferences once, and only those that concern what was written.
func TestImportTellsDifferences(t *testing.T) {
	t.Parallel()
	policy := func(kind, name, schedule string) string {
		return "---\napiVersion: kyverno.io/v2\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: shop}\n" +
			"spec: {schedule: '" + schedule + "', match: {any: [{resources: {kinds: [ConfigMap], namespaces: [shop]}}]}}\n"
	}
	cleaner := func(action string) string {
		return "apiVersion: apps.projectsveltos.io/v1alpha1\nkind: Cleaner\nmetadata: {name: a}\nspec: {schedule: 0 3 * * *, timeZone: Europe/Rome, action: " +
			action + ", resourcePolicySet: {resourceSelectors: [{group: '', version: v1, kind: Secret}]}}\n"
	}
	const (
		reports   = "acts at once; these Cleaners only report: when their reports are right, import again with --keep-action"
		beside    = "note: Kyverno continues to run next to these Cleaners: delete the policies, or stop its cleanup controller, when you apply them   [N-IMP-001]\n"
		copies    = "keeps a copy of what it deletes or changes for 7 days (kubectl cleaner restore)   [N-IMP-001]\n"
		changed   = "an object that changed after it was found is judged again before it is deleted"
		protected = "protected objects are left alone"
		zone      = "schedules are in UTC; Kyverno takes the time zone of its Pod: if that is another one, set spec.timeZone"
		placed    = "a CleanupPolicy belongs to a namespace, and a Cleaner to none"
	)
	all := []string{reports, beside, copies, changed, protected, zone, placed}
	for name, test := range map[string]struct {
		text string
		args []string
		want []string
	}{
		"two policies": {
			policy("ClusterCleanupPolicy", "a", "0 3 * * *") + policy("ClusterCleanupPolicy", "b", "0 4 * * *"),
			[]string{"kyverno"},
			[]string{reports, copies, changed, zone},
		},
		"in a namespace, every hour": {
			policy("CleanupPolicy", "a", "0 * * * *"), []string{"kyverno", "--keep-action"}, []string{beside, copies, changed, placed},
		},
		"deletes everywhere": {cleaner("Delete"), []string{"k8s-cleaner"}, []string{reports, copies, changed, protected}},
		"only reports":       {cleaner("Scan"), []string{"k8s-cleaner", "--keep-action"}, nil},
	} {
		got := call(t.Context(), t, test.text, nil, append(append([]string{"import"}, test.args...), "-")...)
		for _, line := range all {
			want := 0
			if slices.Contains(test.want, line) {
				want = 1
			}
			if n := strings.Count(got.errOut, line); n != want {
				t.Errorf("%s: %q is said %d times, want %d:\n%s", name, line, n, want, got.errOut)
			}
		}
	}
}

// TestImportSaysOperations: which requests a rule is for is said at its line, and keeps nothing from being selected.
func TestImportSaysOperations(t *testing.T) {
	t.Parallel()
	const deleting = "apiVersion: policies.kyverno.io/v1\nkind: DeletingPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
		"  matchConstraints:\n    resourceRules:\n    - apiGroups: ['']\n      apiVersions: [v1]\n      resources: [pods]\n      operations: "
	const cleanup = "apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
		"  match:\n    any:\n    - resources:\n        kinds: [Pod]\n        operations: "
	const says = "operations: is not carried over: a Cleaner looks at objects on a schedule, and not at requests"
	for text, want := range map[string]string{
		deleting + "[CREATE]\n": "11: warning: a: spec.matchConstraints.resourceRules[0]." + says,
		cleanup + "[CREATE]\n":  "10: warning: a: spec.match.any[0].resources." + says,
		deleting + "['*']\n":    "",
		cleanup + "[]\n":        "",
	} {
		code := codes.ExitDone
		if want != "" {
			code = codes.ExitPartial
		}
		got := call(t.Context(), t, text+noFilters, nil, "import", "kyverno", "-")
		if got.code != code || !strings.Contains(got.errOut, want) || want == "" && strings.Contains(got.errOut, "operations") ||
			strings.Contains(got.out, "not-carried-over") {
			t.Errorf("%s: exit %d, want %q:\n%s%s", text, got.code, want, got.out, got.errOut)
		}
	}
}
