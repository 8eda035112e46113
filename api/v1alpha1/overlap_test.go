// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"testing"

	"k8s.io/utils/ptr"
)

func TestCovers(t *testing.T) {
	label := []LabelFilter{{Key: "app", Operation: OperationHas}}
	condition := func(expression string) []MatchCondition { return []MatchCondition{{Name: "a", Expression: expression}} }
	pods := ResourceSelector{Version: "v1", Kind: "Pod"}
	edited := func(edit func(*ResourceSelector)) ResourceSelector {
		s := pods
		edit(&s)
		return s
	}
	labelled := func(operation Operation, value string) ResourceSelector {
		return edited(func(s *ResourceSelector) {
			s.LabelFilters = []LabelFilter{{Key: "app", Operation: operation, Value: &value}}
		})
	}
	within := func(selector, namespace string) ResourceSelector {
		return edited(func(s *ResourceSelector) { s.NamespaceSelector, s.Namespace = selector, namespace })
	}
	tests := []struct {
		name         string
		wide, narrow ResourceSelector
		want, back   string
	}{
		{"the same", pods, pods, "Pod", "Pod"},
		{"another kind", pods, ResourceSelector{Version: "v1", Kind: "Secret"}, "", ""},
		{"another group", pods, edited(func(s *ResourceSelector) { s.Group = "x" }), "", ""},
		{"a label", pods, edited(func(s *ResourceSelector) { s.LabelFilters = label }), "Pod", ""},
		{"has, equal", labelled(OperationHas, ""), labelled(OperationEqual, "x"), "Pod", ""},
		{"has, has with a value that says nothing", labelled(OperationHas, ""), labelled(OperationHas, "x"), "Pod", "Pod"},
		{"has, different", labelled(OperationHas, ""), labelled(OperationDifferent, "x"), "", ""},
		{"different, equal to another", labelled(OperationDifferent, "y"), labelled(OperationEqual, "x"), "Pod", ""},
		{"different, equal to the same", labelled(OperationDifferent, "x"), labelled(OperationEqual, "x"), "", ""},
		{"different, absent", labelled(OperationDifferent, "x"), labelled(OperationDoesNotHave, ""), "Pod", ""},
		{"different, different from another", labelled(OperationDifferent, "x"), labelled(OperationDifferent, "y"), "", ""},
		{"equal, equal to another", labelled(OperationEqual, "x"), labelled(OperationEqual, "y"), "", ""},
		{"absent, has", labelled(OperationDoesNotHave, ""), labelled(OperationHas, ""), "", ""},
		{
			"another label", labelled(OperationHas, ""),
			edited(func(s *ResourceSelector) { s.LabelFilters = []LabelFilter{{Key: "b", Operation: OperationHas}} }), "", "",
		},
		{"a namespace", pods, edited(func(s *ResourceSelector) { s.Namespace = "a" }), "Pod", ""},
		{"two namespaces", edited(func(s *ResourceSelector) { s.Namespace = "b" }), edited(func(s *ResourceSelector) { s.Namespace = "a" }), "", ""},
		{"a label of namespaces, all", pods, within("env=a", ""), "Pod", ""},
		{"one of several values", within("env in (a,b)", ""), within("env=a", ""), "Pod", ""},
		{"two spellings of one value", within("env in (a)", ""), within("env==a", ""), "Pod", "Pod"},
		{"values in common", within("env in (a,b)", ""), within("env in (b,c)", ""), "", ""},
		{"one more requirement", within("env in (a,b)", ""), within("tier=x,env=b", ""), "Pod", ""},
		{"another key", within("env=a", ""), within("tier=a", ""), "", ""},
		{"no value, one value", within("env", ""), within("env in (a,b)", ""), "Pod", ""},
		{"not one value, another", within("env!=c", ""), within("env in (a,b)", ""), "Pod", ""},
		{"not two values, not three", within("env notin (c,d)", ""), within("env notin (c,d,e)", ""), "Pod", ""},
		{"not a value, absent", within("env!=c", ""), within("!env", ""), "Pod", ""},
		{"a name in a list of names", within("kubernetes.io/metadata.name in (a,b)", ""), within("", "a"), "Pod", ""},
		{"a name as a label", within("", "a"), within("kubernetes.io/metadata.name=a", ""), "Pod", "Pod"},
		{"a name that a label may have", within("env=a", ""), within("", "a"), "", ""},
		{"a name or labels, each", within("env=a", "b"), within("env=a", ""), "Pod", ""},
		{"not a selector", within("env in (a", ""), within("env=a", ""), "", ""},
		{"an age", pods, edited(func(s *ResourceSelector) { s.MinAgeSeconds = ptr.To[int64](1) }), "Pod", ""},
		{"a script", pods, edited(func(s *ResourceSelector) { s.Evaluate = "x" }), "Pod", ""},
		{"a finding", pods, edited(func(s *ResourceSelector) { s.Finding = &FindingSelector{Type: FindingUnused} }), "Pod", ""},
		{
			"conditions", edited(func(s *ResourceSelector) { s.MatchConditions = condition("x") }),
			edited(func(s *ResourceSelector) { s.MatchConditions = append(condition("y"), condition("x")...) }), "Pod", "",
		},
		{"other conditions", edited(func(s *ResourceSelector) { s.MatchConditions = condition("x") }), edited(func(s *ResourceSelector) { s.MatchConditions = condition("y") }), "", ""},
		{"deleted ones", pods, edited(func(s *ResourceSelector) { s.ExcludeDeleted = ptr.To(true) }), "Pod", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cleaner := func(s ResourceSelector, action Action) *Cleaner {
				c := &Cleaner{}
				c.Spec.Action, c.Spec.ResourcePolicySet.ResourceSelectors = &action, []ResourceSelector{s}
				return c
			}
			wide, narrow := cleaner(tt.wide, ActionDelete), cleaner(tt.narrow, ActionTransform)
			if got := wide.Covers(narrow); got != tt.want {
				t.Errorf("Covers: %q, want %q", got, tt.want)
			}
			if got := narrow.Covers(wide); got != tt.back {
				t.Errorf("the other way round: %q, want %q", got, tt.back)
			}
			if got := cleaner(tt.wide, ActionScan).Covers(narrow); got != "" {
				t.Errorf("one that only reports: %q", got)
			}
			wide.Spec.ResourcePolicySet.AggregatedSelection = "x"
			if got := wide.Covers(narrow); got != "" {
				t.Errorf("one with an aggregated script: %q", got)
			}
		})
	}
}
