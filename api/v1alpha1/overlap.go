// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"reflect"
	"slices"

	"k8s.io/utils/ptr"
)

// Covers returns the kind of which two Cleaners certainly act on the same objects: a selector of c selects whatever one
// of the other selects. It is empty when that is not certain, which says nothing about whether they have objects in
// common, and when one of the two only reports.
func (c *Cleaner) Covers(other *Cleaner) (kind string) {
	if c.EffectiveAction() == ActionScan || other.EffectiveAction() == ActionScan ||
		c.Spec.ResourcePolicySet.AggregatedSelection != "" {
		return ""
	}
	for i := range other.Spec.ResourcePolicySet.ResourceSelectors {
		narrow := &other.Spec.ResourcePolicySet.ResourceSelectors[i]
		for j := range c.Spec.ResourcePolicySet.ResourceSelectors { // by reference: a selector is large
			if c.Spec.ResourcePolicySet.ResourceSelectors[j].covers(narrow) {
				return narrow.Kind
			}
		}
	}
	return ""
}

// Overlap returns those of two Cleaners that certainly act on the same objects: wide covers narrow. Nil if neither
// covers the other.
func Overlap(one, other *Cleaner) (wide, narrow *Cleaner, kind string) {
	if kind := one.Covers(other); kind != "" {
		return one, other, kind
	}
	if kind := other.Covers(one); kind != "" {
		return other, one, kind
	}
	return nil, nil, ""
}

// covers reports whether a selector certainly selects whatever the other selects.
func (s *ResourceSelector) covers(other *ResourceSelector) bool {
	return s.Group == other.Group && s.Kind == other.Kind && s.coversNamespaces(other) && s.coversJudgement(other) &&
		(!ptr.Deref(s.ExcludeDeleted, false) || ptr.Deref(other.ExcludeDeleted, false)) &&
		ptr.Deref(s.MinAgeSeconds, 0) <= ptr.Deref(other.MinAgeSeconds, 0) &&
		all(s.LabelFilters, func(f LabelFilter) bool {
			return slices.ContainsFunc(other.LabelFilters, func(o LabelFilter) bool { return f.isImpliedBy(o) })
		})
}

// isImpliedBy reports whether the filter lets every object through that the other one lets through.
func (f LabelFilter) isImpliedBy(other LabelFilter) bool {
	if f.Key != other.Key {
		return false
	}
	isSame := ptr.Deref(f.Value, "") == ptr.Deref(other.Value, "")
	switch f.Operation {
	case other.Operation:
		return isSame || f.Operation == OperationHas || f.Operation == OperationDoesNotHave
	case OperationDifferent:
		return other.Operation == OperationDoesNotHave || other.Operation == OperationEqual && !isSame
	case OperationHas:
		return other.Operation == OperationEqual
	}
	return false
}

// coversJudgement is that of what judges one object after the other.
func (s *ResourceSelector) coversJudgement(other *ResourceSelector) bool {
	return (s.Finding == nil || reflect.DeepEqual(s.Finding, other.Finding)) &&
		(s.Evaluate == "" || s.Evaluate == other.Evaluate) &&
		all(s.MatchConditions, func(m MatchCondition) bool {
			return slices.ContainsFunc(
				other.MatchConditions,
				func(o MatchCondition) bool { return m.Expression == o.Expression },
			)
		}) &&
		s.hasInputsOf(other)
}

func (s *ResourceSelector) coversNamespaces(other *ResourceSelector) bool {
	return s.Namespace == "" && s.NamespaceSelector == "" ||
		s.Namespace == other.Namespace && s.NamespaceSelector == other.NamespaceSelector
}

// hasInputsOf reports whether equal conditions and scripts are asked about the same inputs.
func (s *ResourceSelector) hasInputsOf(other *ResourceSelector) bool {
	return s.Evaluate == "" && len(s.MatchConditions) == 0 ||
		reflect.DeepEqual(s.MetricSource, other.MetricSource) && reflect.DeepEqual(s.MetricQueries, other.MetricQueries) &&
			reflect.DeepEqual(s.LogSource, other.LogSource)
}

func all[T any](list []T, is func(T) bool) bool {
	return !slices.ContainsFunc(list, func(one T) bool { return !is(one) })
}
