// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func TestPlacesOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		namespace, selector string
		cluster             bool
		want                string
	}{
		"everywhere":                  {"", "", false, ""},
		"a cluster-scoped kind":       {"", "", true, ""},
		"one namespace":               {"a", "", false, "a"},
		"by labels":                   {"", "env=test", false, ""},
		"by labels, and a namespace":  {"a", "env=test", false, ""},
		"by name":                     {"", "kubernetes.io/metadata.name=b", false, "b"},
		"by names":                    {"", "kubernetes.io/metadata.name in (b, a)", false, "a b"},
		"by names, and a namespace":   {"c", "kubernetes.io/metadata.name in (b, a, c)", false, "a b c"},
		"by names and labels":         {"", "env=test,kubernetes.io/metadata.name in (b, a)", false, "a b"},
		"all but some names":          {"", "kubernetes.io/metadata.name notin (b, a)", false, ""},
		"a cluster-scoped kind again": {"", "env=test", true, ""},
	} {
		spec := &v1alpha1.ResourceSelector{Namespace: test.namespace, NamespaceSelector: test.selector}
		got, err := placesOf(spec, !test.cluster)
		if diff := cmp.Diff(strings.Split(test.want, " "), got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// A right of the whole cluster makes those of namespaces superfluous, and one without a name those with a name; why they are needed is kept.
func TestLeast(t *testing.T) {
	t.Parallel()
	right := func(namespace, name, why string) Right {
		return Right{Verb: "get", Resource: "secrets", Namespace: namespace, Name: name, Why: why}
	}
	for name, test := range map[string]struct{ all, want []Right }{
		"nothing":             {nil, nil},
		"twice":               {[]Right{right("a", "", "x"), right("a", "", "x")}, []Right{right("a", "", "x")}},
		"for two reasons":     {[]Right{right("a", "", "x"), right("a", "", "y")}, []Right{right("a", "", "x"), right("a", "", "y")}},
		"two namespaces":      {[]Right{right("a", "", "x"), right("b", "", "x")}, []Right{right("a", "", "x"), right("b", "", "x")}},
		"the whole cluster":   {[]Right{right("a", "", "x"), right("", "", "y")}, []Right{right("", "", "x"), right("", "", "y")}},
		"any name":            {[]Right{right("a", "n", "x"), right("a", "", "y")}, []Right{right("a", "", "x"), right("a", "", "y")}},
		"step by step":        {[]Right{right("a", "n", "x"), right("a", "", "y"), right("", "", "z")}, []Right{right("", "", "x"), right("", "", "y"), right("", "", "z")}},
		"another name":        {[]Right{right("a", "n", "x"), right("a", "m", "y")}, []Right{right("a", "n", "x"), right("a", "m", "y")}},
		"a name of elsewhere": {[]Right{right("a", "", "x"), right("", "n", "y")}, []Right{right("a", "", "x"), right("", "n", "y")}},
	} {
		if diff := cmp.Diff(test.want, Least(test.all)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What a name says cannot end a comment and begin a rule.
func TestCommentsHoldNoRules(t *testing.T) {
	t.Parallel()
	evil := "x\n- apiGroups: ['*']\n  resources: ['*']\n  verbs: ['*']"
	text, err := Role{Rules: Rules([]Right{{Verb: "list", Resource: "pods", Why: evil}})}.YAML("r")
	if err != nil || strings.Contains(text, "\n- apiGroups: ['*']") || !strings.Contains(text, "# list: x - apiGroups") {
		t.Errorf("%v:\n%s", err, text)
	}
}
