// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
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
	wide, narrow := f.requirement(), other.requirement()
	return wide != nil && narrow != nil && implies(narrow, wide)
}

// requirement is the filter as a part of a label selector. Nil when it is not valid.
func (f LabelFilter) requirement() *labels.Requirement {
	var values []string
	operator := map[Operation]selection.Operator{
		OperationEqual: selection.In, OperationDifferent: selection.NotIn,
		OperationHas: selection.Exists, OperationDoesNotHave: selection.DoesNotExist,
	}[f.Operation]
	if f.Operation == OperationEqual || f.Operation == OperationDifferent {
		values = []string{ptr.Deref(f.Value, "")}
	}
	found, err := labels.NewRequirement(f.Key, operator, values)
	if err != nil {
		return nil
	}
	return found
}

// implies reports whether the wide requirement certainly holds for all labels for which the narrow one holds.
func implies(narrow, wide *labels.Requirement) bool {
	if narrow.Key() != wide.Key() {
		return false
	}
	switch narrow.Operator() {
	case selection.Equals, selection.DoubleEquals, selection.In:
		return all(narrow.ValuesUnsorted(), func(v string) bool { return wide.Matches(labels.Set{wide.Key(): v}) })
	case selection.DoesNotExist:
		return wide.Matches(labels.Set{})
	case selection.NotEquals, selection.NotIn:
		return (wide.Operator() == selection.NotIn || wide.Operator() == selection.NotEquals) &&
			narrow.Values().HasAll(wide.ValuesUnsorted()...)
	}
	return wide.Operator() == selection.Exists || narrow.String() == wide.String()
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

// coversNamespaces reports whether a selector looks into all namespaces that the other one looks into. Both fields of a
// selector together are the namespaces of the one and of the other.
func (s *ResourceSelector) coversNamespaces(other *ResourceSelector) bool {
	if s.Namespace == "" && s.NamespaceSelector == "" {
		return true
	}
	named := other.Namespace == "" || other.Namespace == s.Namespace ||
		coversSelector(s.NamespaceSelector, corev1.LabelMetadataName+"="+other.Namespace)
	selected := other.NamespaceSelector == "" || coversSelector(s.NamespaceSelector, other.NamespaceSelector) ||
		s.Namespace != "" && coversSelector(corev1.LabelMetadataName+"="+s.Namespace, other.NamespaceSelector)
	return named && selected && (other.Namespace != "" || other.NamespaceSelector != "")
}

// coversSelector reports whether a label selector certainly selects whatever the other one selects. An empty one
// selects nothing here.
func coversSelector(wide, narrow string) bool {
	if wide == narrow {
		return true
	}
	holds, err := labels.ParseToRequirements(wide)
	held, fault := labels.ParseToRequirements(narrow)
	if err != nil || fault != nil {
		return false
	}
	return len(holds) > 0 && all(holds, func(w labels.Requirement) bool {
		return slices.ContainsFunc(held, func(n labels.Requirement) bool { return implies(&n, &w) })
	})
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
