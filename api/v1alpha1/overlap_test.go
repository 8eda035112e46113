// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"testing"

	"k8s.io/utils/ptr"
)

func TestOverlap(t *testing.T) {
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
		want         string
	}{
		{"the same", pods, pods, same},
		{"another kind", pods, ResourceSelector{Version: "v1", Kind: "Secret"}, none},
		{"another group", pods, edited(func(s *ResourceSelector) { s.Group = "x" }), none},
		{"a label", pods, edited(func(s *ResourceSelector) { s.LabelFilters = label }), whole},
		{"has, equal", labelled(OperationHas, ""), labelled(OperationEqual, "x"), whole},
		{"has, has with a value that says nothing", labelled(OperationHas, ""), labelled(OperationHas, "x"), same},
		{"has, different", labelled(OperationHas, ""), labelled(OperationDifferent, "x"), none},
		{"different, equal to another", labelled(OperationDifferent, "y"), labelled(OperationEqual, "x"), whole},
		{"different, equal to the same", labelled(OperationDifferent, "x"), labelled(OperationEqual, "x"), none},
		{"different, absent", labelled(OperationDifferent, "x"), labelled(OperationDoesNotHave, ""), whole},
		{"different, different from another", labelled(OperationDifferent, "x"), labelled(OperationDifferent, "y"), none},
		{"equal, equal to another", labelled(OperationEqual, "x"), labelled(OperationEqual, "y"), none},
		{"absent, has", labelled(OperationDoesNotHave, ""), labelled(OperationHas, ""), none},
		{
			"another label", labelled(OperationHas, ""),
			edited(func(s *ResourceSelector) { s.LabelFilters = []LabelFilter{{Key: "b", Operation: OperationHas}} }), none,
		},
		{"a namespace", pods, edited(func(s *ResourceSelector) { s.Namespace = "a" }), whole},
		{"two namespaces", edited(func(s *ResourceSelector) { s.Namespace = "b" }), edited(func(s *ResourceSelector) { s.Namespace = "a" }), none},
		{"a label of namespaces, all", pods, within("env=a", ""), whole},
		{"one of several values", within("env in (a,b)", ""), within("env=a", ""), whole},
		{"two spellings of one value", within("env in (a)", ""), within("env==a", ""), same},
		{"values in common", within("env in (a,b)", ""), within("env in (b,c)", ""), none},
		{"one more requirement", within("env in (a,b)", ""), within("tier=x,env=b", ""), whole},
		{"another key", within("env=a", ""), within("tier=a", ""), none},
		{"no value, one value", within("env", ""), within("env in (a,b)", ""), whole},
		{"not one value, another", within("env!=c", ""), within("env in (a,b)", ""), whole},
		{"not two values, not three", within("env notin (c,d)", ""), within("env notin (c,d,e)", ""), whole},
		{"not a value, absent", within("env!=c", ""), within("!env", ""), whole},
		{"a name in a list of names", within("kubernetes.io/metadata.name in (a,b)", ""), within("", "a"), whole},
		{"a name as a label", within("", "a"), within("kubernetes.io/metadata.name=a", ""), same},
		{"a name that a label may have", within("env=a", ""), within("", "a"), none},
		{"a name or labels, each", within("env=a", "b"), within("env=a", ""), whole},
		{"not a selector", within("env in (a", ""), within("env=a", ""), none},
		{"an age", pods, edited(func(s *ResourceSelector) { s.MinAgeSeconds = ptr.To[int64](1) }), whole},
		{"a script", pods, edited(func(s *ResourceSelector) { s.Evaluate = "x" }), whole},
		{"a finding", pods, edited(func(s *ResourceSelector) { s.Finding = &FindingSelector{Type: FindingUnused} }), whole},
		{
			"conditions", edited(func(s *ResourceSelector) { s.MatchConditions = condition("x") }),
			edited(func(s *ResourceSelector) { s.MatchConditions = append(condition("y"), condition("x")...) }), whole,
		},
		{"other conditions", edited(func(s *ResourceSelector) { s.MatchConditions = condition("x") }), edited(func(s *ResourceSelector) { s.MatchConditions = condition("y") }), none},
		{"labels here, a namespace there", edited(func(s *ResourceSelector) { s.LabelFilters = label }), within("", "a"), some},
		{"an age here, a label there", edited(func(s *ResourceSelector) { s.MinAgeSeconds = ptr.To[int64](1) }), labelled(OperationEqual, "x"), some},
		{"a finding here, a namespace there", edited(func(s *ResourceSelector) { s.Finding = &FindingSelector{Type: FindingUnused} }), within("env=a", ""), some},
		{
			"an age here, deleted ones there",
			edited(func(s *ResourceSelector) { s.MinAgeSeconds, s.ExcludeDeleted = ptr.To[int64](1), ptr.To(false) }), pods, some,
		},
		{"a label here, another there, and a namespace", labelled(OperationEqual, "y"), edited(func(s *ResourceSelector) {
			s.Namespace, s.LabelFilters = "a", labelled(OperationEqual, "x").LabelFilters
		}), none},
		{
			"a script, of two versions",
			edited(func(s *ResourceSelector) { s.Evaluate = "x" }), edited(func(s *ResourceSelector) { s.Evaluate, s.Version = "x", "v2" }), none,
		},
		{
			"a script, with and without events",
			edited(func(s *ResourceSelector) { s.Evaluate = "x" }), edited(func(s *ResourceSelector) { s.Evaluate, s.IncludeEvents = "x", ptr.To(true) }), none,
		},
		{
			"conditions here, a script there",
			edited(func(s *ResourceSelector) { s.MatchConditions = condition("x") }), edited(func(s *ResourceSelector) { s.Evaluate = "x" }), none,
		},
		{"deleted ones", edited(func(s *ResourceSelector) { s.ExcludeDeleted = ptr.To(false) }), pods, whole},
		{"deleted ones are left out if nothing is said", pods, edited(func(s *ResourceSelector) { s.ExcludeDeleted = ptr.To(true) }), same},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			one, other := cleaner(tt.wide, ActionDelete), cleaner(tt.narrow, ActionTransform)
			if got := relation(one, other); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			one.Spec.Action = ptr.To(ActionScan)
			if got := relation(one, other); got != none {
				t.Errorf("one that only reports: %s", got)
			}
		})
	}
}

// What holds for one of several selectors is not said of all, and it does not matter which Cleaner is looked at first.
func TestOverlapOfSeveralSelectors(t *testing.T) {
	in := func(kind, namespace string) ResourceSelector {
		return ResourceSelector{Kind: kind, Namespace: namespace}
	}
	for name, test := range map[string]struct {
		one, other []ResourceSelector
		deletes    bool
		want, kind string
	}{
		"one of two namespaces":      {[]ResourceSelector{in("Pod", "a")}, []ResourceSelector{in("Pod", "a"), in("Pod", "b")}, false, part, "Pod"},
		"two in three":               {[]ResourceSelector{in("Pod", "b"), in("Pod", "a")}, []ResourceSelector{in("Pod", "a"), in("Pod", "b"), in("Pod", "c")}, false, part, "Pod"},
		"two that share one":         {[]ResourceSelector{in("Pod", "a"), in("Pod", "b")}, []ResourceSelector{in("Pod", "b"), in("Pod", "c")}, false, some, "Pod"},
		"two deletes that share one": {[]ResourceSelector{in("Pod", "a"), in("Pod", "b")}, []ResourceSelector{in("Pod", "b"), in("Pod", "c")}, true, none, ""},
		"two kinds":                  {[]ResourceSelector{in("Pod", "a"), in("Job", "a")}, []ResourceSelector{in("Job", "a"), in("Pod", "a")}, false, same, "Job"},
		"a kind in part, one whole":  {[]ResourceSelector{in("Job", "a"), in("Job", "b"), in("Pod", "")}, []ResourceSelector{in("Job", "b"), in("Job", "c"), in("Pod", "c")}, false, whole, "Pod"},
	} {
		one, other := cleaner(ResourceSelector{}, ActionDelete), cleaner(ResourceSelector{}, ActionTransform)
		if test.deletes {
			other.Spec.Action = ptr.To(ActionDelete)
		}
		one.Spec.ResourcePolicySet.ResourceSelectors, other.Spec.ResourcePolicySet.ResourceSelectors = test.one, test.other
		kind, _ := Overlap(other.Reach(), one.Reach())
		if got := relation(one, other); got != test.want || kind != test.kind {
			t.Errorf("%s: %s of %q, want %s of %q", name, got, kind, test.want, test.kind)
		}
	}
}

// What an aggregated script chooses is a part of what the selectors select, and never known to be more.
func TestOverlapOfAggregated(t *testing.T) {
	one, other := cleaner(ResourceSelector{Kind: "Pod"}, ActionDelete), cleaner(ResourceSelector{Kind: "Pod", Evaluate: "x"}, ActionTransform)
	steps := []struct {
		name   string
		change func()
		want   string
	}{
		{"none", func() {}, whole},
		{"of the narrow one", func() { other.Spec.ResourcePolicySet.AggregatedSelection = "x" }, whole},
		{"of both", func() { one.Spec.ResourcePolicySet.AggregatedSelection = "x" }, none},
		{"of the wide one, where the other has a script", func() { other.Spec.ResourcePolicySet.AggregatedSelection = "" }, none},
		{"of the wide one", func() { other.Spec.ResourcePolicySet.ResourceSelectors[0].Evaluate = "" }, part},
		{"of the wide one, where the other has a namespace", func() { other.Spec.ResourcePolicySet.ResourceSelectors[0].Namespace = "a" }, some},
	}
	for _, step := range steps {
		step.change()
		if got := relation(one, other); got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
	}
}

func cleaner(s ResourceSelector, action Action) *Cleaner {
	c := &Cleaner{}
	c.Spec.Action, c.Spec.ResourcePolicySet.ResourceSelectors = &action, []ResourceSelector{s}
	return c
}

// What two Cleaners have in common: all that both select, all that the second selects, all that the first selects, some.
const same, whole, part, some, none = "the same", "all", "a part", "some", "none"

// relation compares two Cleaners in both orders.
func relation(one, other *Cleaner) string {
	a, b := one.Reach(), other.Reach()
	kind, wide := Overlap(a, b)
	turned, back := Overlap(b, a)
	switch {
	case kind != turned || (wide == nil) != (back == nil):
		return "depends on the order"
	case kind == "":
		return none
	case wide == nil:
		return some
	case wide != back:
		return same
	case wide == a:
		return whole
	}
	return part
}
