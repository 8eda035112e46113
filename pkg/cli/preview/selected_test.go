// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestSelected: a row says by what an object was selected, in words for people.
func TestSelected(t *testing.T) {
	t.Parallel()
	type condition = v1alpha1.MatchCondition
	label := func(operation v1alpha1.Operation, value *string) v1alpha1.LabelFilter {
		return v1alpha1.LabelFilter{Key: "team", Operation: operation, Value: value}
	}
	for want, s := range map[string]v1alpha1.ResourceSelector{
		"every Pod":                    {},
		"every Pod, in namespace shop": {Namespace: "shop"},
		"older than 7d, label team=a": {
			MinAgeSeconds: ptr.To[int64](604800), LabelFilters: []v1alpha1.LabelFilter{label(v1alpha1.OperationEqual, ptr.To("a"))},
		},
		"label team!=a, label team, label !team, in namespaces with tier=dev": {
			NamespaceSelector: "tier=dev", LabelFilters: []v1alpha1.LabelFilter{
				label(v1alpha1.OperationDifferent, ptr.To("a")), label(v1alpha1.OperationHas, nil), label(v1alpha1.OperationDoesNotHave, nil),
			},
		},
		"object.metadata.name == 'a', condition long": {MatchConditions: []condition{
			{Name: "short", Expression: "object.metadata.name\n  == 'a'"}, {Name: "long", Expression: strings.Repeat("true && ", 20) + "true"},
		}},
		"the script evaluate": {Evaluate: "function evaluate() end"},
		"finding Unused":      {Finding: &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnused}},
	} {
		s.Kind = "Pod"
		set := &v1alpha1.ResourcePolicySet{ResourceSelectors: []v1alpha1.ResourceSelector{{}, s}}
		if got := selected(set, 1); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	set := &v1alpha1.ResourcePolicySet{ResourceSelectors: []v1alpha1.ResourceSelector{{Kind: "Pod"}}, AggregatedSelection: "x"}
	if got := selected(set, 0); got != "the script aggregatedSelection" {
		t.Errorf("it says %q", got)
	}
}
