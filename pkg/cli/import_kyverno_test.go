// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const conditionPolicy = "apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
	"  match: {any: [{resources: {kinds: [example.com/v1/Thing]}}]}\n  conditions: {all: [{key: '{{ target.%s }}', operator: %s, value: %s}]}\n"

// TestImportComparesAsKyverno: durations and quantities by value, and what is one of several by its text.
func TestImportComparesAsKyverno(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		operator, value string
		// fallback is the text after || in the key.
		fallback string
		// matching and other are values of the field, as JSON, that Kyverno selects and that it does not.
		matching, other []string
	}{
		{"NotEquals", "1h", "", []string{`"61m"`, `"x"`, `"5m"`}, []string{`"1h"`, `"60m"`, `"3600s"`, `"2"`, `"1.5.s"`}},
		{"Equals", "1h", "", []string{`"1h"`, `"60m"`}, []string{`"61m"`, `"x"`, `"2"`}},
		{"NotEquals", "2Gi", "", []string{`"2"`, `"1Gi"`, `"x"`}, []string{`"2Gi"`, `"2048Mi"`}},
		{"Equals", "2Gi", "", []string{`"2Gi"`, `"2048Mi"`}, []string{`"2"`, `"x"`}},
		{"NotEquals", "5m", "", []string{`"6m"`, `"1"`, `"x"`}, []string{`"5m"`, `"300s"`, `"0.005"`}},
		{"NotEquals", "'1'", "", []string{`"2"`, `"1s"`, `"x"`}, []string{`"1"`, `"1000m"`, `"1.0"`}},
		{"NotEquals", "prod", "", []string{`"x"`, `""`}, []string{`"prod"`, `"2"`, `"2Gi"`}},
		{"NotEquals", "''", "", []string{`"x"`, `"2"`}, []string{`""`}},
		{"Equals", "'5*'", "", []string{`"5x"`}, []string{`"5"`, `"6x"`}},
		{"AnyNotIn", "[1h, 2]", "", []string{`"60m"`, `3`, `["2", "x"]`}, []string{`"1h"`, `2`, `"2"`, `["2", "1h"]`, `"1*"`, `{}`}},
		{"AllNotIn", "[a.test]", "", []string{`["b.test"]`}, []string{`"*.test"`, `["b.test", "*.test"]`}},
		{"AnyIn", "['2', true]", "", []string{`2`, `"2"`, `true`, `["x", 2]`}, []string{`3`, `["x"]`, `false`}},
		{"NotEquals", "'*keep*'", "", []string{`"x"`, `"x\ny"`}, []string{`"keep"`, `"owner: x\nkeep"`}},
		{"NotEquals", "prod", " || ''prod''", []string{`"x"`}, []string{`"prod"`, `""`, `null`, `[]`, `{}`, `false`}},
		{"Equals", "prod", " || ''prod''", []string{`"prod"`, `""`, `null`}, []string{`"x"`}},
		{"Equals", "test", " || ''prod''", []string{`"test"`}, []string{`"prod"`, `""`, `null`}},
		{"In", "[a, b]", "", []string{`["a", "b"]`, `"a"`}, []string{`["a", "x"]`, `"x"`}},
	} {
		got := call(t.Context(), t, fmt.Sprintf(conditionPolicy, "spec.f"+test.fallback, test.operator, test.value)+noFilters, nil, "import", "kyverno", "-")
		if got.code != codes.ExitDone {
			t.Errorf("%s %s: exit %d:\n%s", test.operator, test.value, got.code, got.errOut)
			continue
		}
		var c v1alpha1.Cleaner
		must(t, yaml.Unmarshal([]byte(got.out), &c))
		program, err := cel.Compile(c.Spec.ResourcePolicySet.ResourceSelectors[0].MatchConditions)
		must(t, err)
		for i, field := range append(test.matching, test.other...) {
			o := object.Object{Raw: []byte(`{"metadata": {"name": "a"}, "spec": {"f": ` + field + `}}`)}
			is, _, err := program.NewRun(now).Evaluate(t.Context(), o)
			if want := i < len(test.matching); is != want || want && err != nil {
				t.Errorf("%s %s of %s is %t (%v), want %t:\n%s", test.operator, test.value, field, is, err, want, got.out)
			}
		}
	}
}

// TestImportOfTextsThatAreLists to Kyverno, or ranges, or of no use to its operator.
func TestImportOfTextsThatAreLists(t *testing.T) {
	t.Parallel()
	for operator, value := range map[string]string{"AnyNotIn": "10-20", "AllNotIn": "'5'", "NotIn": "x", "AnyIn": `'["a"]'`} {
		got := call(t.Context(), t, fmt.Sprintf(conditionPolicy, "spec.f", operator, value), nil, "import", "kyverno", "-")
		want := fmt.Sprintf("import does not support %s with the text %q: write a list", operator, strings.Trim(value, "'"))
		if got.code != codes.ExitPartial || !strings.Contains(got.errOut, want) || !strings.Contains(got.out, `expression: "false"`) {
			t.Errorf("%s: exit %d, want %q:\n%s%s", operator, got.code, want, got.out, got.errOut)
		}
	}
}

// TestImportOfUnguardedFields warns of conditions that fail on some objects, as lint does.
func TestImportOfUnguardedFields(t *testing.T) {
	t.Parallel()
	const policy = "apiVersion: policies.kyverno.io/v1\nkind: DeletingPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
		"  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods]}]}\n  conditions:\n  - name: foo\n" +
		"    expression: object.metadata.labels.foo == 'x'\n"
	got := call(t.Context(), t, policy+noFilters, nil, "import", "kyverno", "-")
	const want = `standard input:9: warning: a: the condition "foo": object.metadata.labels, object.metadata.labels.foo may be missing in a Pod; ` +
		"then the condition fails, and "
	if got.code != codes.ExitDone || !strings.Contains(got.errOut, want) || !strings.Contains(got.errOut, "[W-CEL-001]") {
		t.Errorf("exit %d, want %q:\n%s", got.code, want, got.errOut)
	}
}

// noFilters is the ConfigMap of a Kyverno that keeps no objects from its policies.
const noFilters = "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kyverno, namespace: kyverno}\ndata: {resourceFilters: ''}\n"

// TestImportKeepsToResourceFilters of Kyverno's ConfigMap: what they name is not deleted. Where they are not known, it says so.
func TestImportKeepsToResourceFilters(t *testing.T) {
	t.Parallel()
	const policy = "apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
		"  match: {any: [{resources: {kinds: [ConfigMap, Namespace, ReplicaSet, Role]}}]}\n"
	const filters = "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kyverno, namespace: kyverno}\n" +
		"data: {resourceFilters: '[*/*,finance-*,*] [ConfigMap,*,vip-?] [apps/v1/ReplicaSet,*,*][Role,a,b][v1/Pod,*,*]'}\n"
	got := call(t.Context(), t, policy+filters, nil, "import", "kyverno", "-")
	for _, want := range []string{
		"!(has(object.metadata.namespace) && (object.metadata.namespace.matches('^finance-.*$')) || object.metadata.name.matches('^vip-.$'))\n",
		"!(object.metadata.name.matches(''^finance-.*$''))",
		"(has(object.metadata.namespace) && (object.metadata.namespace == 'a')) && (object.metadata.name == 'b'))",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("there is no %q in:\n%s", want, got.out)
		}
	}
	if got.code != codes.ExitDone || strings.Contains(got.out, "ReplicaSet") || !strings.Contains(got.errOut, "does not select ReplicaSet objects") {
		t.Errorf("exit %d:\n%s%s", got.code, got.out, got.errOut)
	}
	got = call(t.Context(), t, policy, nil, "import", "kyverno", "-")
	if got.code != codes.ExitPartial || !strings.Contains(got.out, "object.metadata.namespace in ['kube-system', 'kube-public', 'kube-node-lease', 'kyverno']") ||
		!strings.Contains(got.errOut, "hint: import its ConfigMap together with the policies: ") {
		t.Errorf("exit %d:\n%s%s", got.code, got.out, got.errOut)
	}
}

// TestImportReadsResourceFilters as Kyverno reads them, or so that they name more.
func TestImportReadsResourceFilters(t *testing.T) {
	t.Parallel()
	const none = ""
	for filters, want := range map[string]map[string]string{ // the condition of each kind, and "all" when no Cleaner selects it
		"[Pod/binding,*,*][Node/?*,*,*]": {"Pod": none, "Node": "all"},
		"[*/*,*,keep-*]":                 {"Pod": "object.metadata.name.matches('^keep-.*$')", "Namespace": "all"},
		"[*/*,prod,web]":                 {"Namespace": "object.metadata.name == 'prod'", "Node": "(has(object.metadata.namespace) && (object.metadata.namespace == 'prod')) && (object.metadata.name == 'web')"},
		"[*.*,finance,*]":                {"Pod": "has(object.metadata.namespace) && (object.metadata.namespace == 'finance')", "Node": none},
		"[Namespace/?*,,stage-1]":        {"Namespace": "object.metadata.name == 'stage-1'", "Pod": none},
		"[Pod.*,finance,*]":              {"Pod": "has(object.metadata.namespace) && (object.metadata.namespace == 'finance')", "ConfigMap": none},
		"[*/*,,keep-?]":                  {"Node": "object.metadata.name.matches('^keep-.$')"},
		"[v1/Pod]":                       {"Pod": "all", "ConfigMap": none},
		"[apps/v1/Pod,*,*][*/Node,*,*]":  {"Pod": none, "Node": "all"},
	} {
		for kind, condition := range want {
			policy := "apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: a}\nspec:\n  schedule: '@daily'\n" +
				"  match: {any: [{resources: {kinds: [" + kind + ", Lease]}}]}\n"
			config := "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kyverno, namespace: kyverno}\ndata: {resourceFilters: '" + filters + "'}\n"
			got := call(t.Context(), t, policy+config, nil, "import", "kyverno", "-")
			first, _, _ := strings.Cut(got.out, "kind: Lease\n")
			ok := strings.Contains(first, "kind: "+kind+"\n") && !strings.Contains(first, "not-filtered")
			switch condition {
			case none:
			case "all":
				ok = got.errOut != "" && !strings.Contains(got.out, "kind: "+kind+"\n")
			default:
				ok = strings.Contains(strings.ReplaceAll(first, "''", "'"), "!("+condition+")")
			}
			if !ok {
				t.Errorf("%s, %s, want %q: exit %d\n%s%s", filters, kind, condition, got.code, got.out, got.errOut)
			}
		}
	}
}
