// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// rule is one of a policy.
func rule(group, resource string, operation admissionv1.OperationType, names ...string) admissionv1.NamedRuleWithOperations {
	return admissionv1.NamedRuleWithOperations{ResourceNames: names, RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{operation},
		Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: []string{resource}},
	}}
}

// TestRefusals: a policy of somebody else may refuse what a Cleaner does, if it is asked about that.
func TestRefusals(t *testing.T) {
	t.Parallel()
	sent := []request{
		{"", "configmaps", admissionv1.Delete, "what Cleaner a does (delete configmaps)", labels.Set{"env": "test"}},
		{"apps", "deployments", admissionv1.Update, "what Cleaner b does (update deployments)", nil},
	}
	type rules = []admissionv1.NamedRuleWithOperations
	in := func(env string) *admissionv1.MatchResources {
		return &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"env": env}}}
	}
	const a, both = "what Cleaner a does (delete configmaps)", "what Cleaner a does (delete configmaps), what Cleaner b does (update deployments)"
	for name, test := range map[string]struct {
		policy, excluded rules
		binding          *admissionv1.MatchResources
		want             string
	}{
		"its kind and operation": {rules{rule("", "configmaps", admissionv1.Delete)}, nil, nil, a},
		"everything":             {rules{rule("*", "*", admissionv1.OperationAll)}, nil, nil, both},
		"another operation":      {rules{rule("", "configmaps", admissionv1.Update)}, nil, nil, ""},
		"another group":          {rules{rule("apps", "configmaps", admissionv1.Delete)}, nil, nil, ""},
		"a subresource":          {rules{rule("*", "*/status", admissionv1.OperationAll)}, nil, nil, ""},
		"some names":             {rules{rule("", "configmaps", admissionv1.Delete, "settings")}, nil, nil, a},
		"excluded":               {rules{rule("*", "*", admissionv1.OperationAll)}, rules{rule("apps", "*", admissionv1.OperationAll)}, nil, a},
		"some names excluded":    {rules{rule("*", "*", admissionv1.OperationAll)}, rules{rule("apps", "*", admissionv1.OperationAll, "web")}, nil, both},
		"a narrow binding": {
			rules{rule("*", "*", admissionv1.OperationAll)},
			nil,
			&admissionv1.MatchResources{ResourceRules: rules{rule("", "configmaps", admissionv1.Delete)}},
			a,
		},
		"a binding for labels": {
			rules{rule("", "configmaps", admissionv1.Delete)},
			nil,
			&admissionv1.MatchResources{ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}},
			a,
		},
		"a binding for the namespace": {rules{rule("*", "*", admissionv1.OperationAll)}, nil, in("test"), both},
		"a binding for other namespaces": {
			rules{rule("*", "*", admissionv1.OperationAll)},
			nil,
			in("live"),
			"what Cleaner b does (update deployments)", // whose namespaces are not known
		},
	} {
		constraints := &admissionv1.MatchResources{ResourceRules: test.policy, ExcludeResourceRules: test.excluded}
		b := bound{"ValidatingAdmissionPolicy/keep", constraints, test.binding}
		lines := refusals([]bound{b, b}, sent) // two bindings
		switch {
		case test.want == "" && len(lines) == 0:
		case len(lines) != 1 || lines[0].Status != Warn || lines[0].Object != "ValidatingAdmissionPolicy/keep" ||
			lines[0].Message != "it applies to these requests, and may block them: "+test.want:
			t.Errorf("%s: doctor says %+v", name, lines)
		}
	}
}
