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

// Overlap returns the kind of objects on which two Cleaners both act, as far as their selectors show it. Wide is the
// one that selects all of them that the other one selects. It is nil when they have only some of them in common. The
// kind is empty when nothing shows that they have any, which is no proof, and when one of the two only reports.
func Overlap(one, other *Cleaner) (kind string, wide *Cleaner) {
	if one.EffectiveAction() == ActionScan || other.EffectiveAction() == ActionScan {
		return "", nil
	}
	for i := range one.Spec.ResourcePolicySet.ResourceSelectors { // by reference: a selector is large
		for j := range other.Spec.ResourcePolicySet.ResourceSelectors {
			a := choice{&one.Spec.ResourcePolicySet.ResourceSelectors[i], one.Spec.ResourcePolicySet.AggregatedSelection}
			b := choice{
				&other.Spec.ResourcePolicySet.ResourceSelectors[j],
				other.Spec.ResourcePolicySet.AggregatedSelection,
			}
			switch forth, back, meet := a.compare(b); {
			case !meet:
			case forth:
				return a.Kind, one
			case back:
				return a.Kind, other
			default:
				kind = a.Kind
			}
		}
	}
	return kind, nil
}

// choice is what a selector selects, and what an aggregated script then chooses of it.
type choice struct {
	*ResourceSelector
	script string
}

// compare reports whether a choice certainly has all that the other one has, the same the other way round, and whether
// they meet: in each respect, one of the two lets all through that the other one lets through.
func (c choice) compare(other choice) (forth, back, meet bool) {
	if c.Group != other.Group || c.Kind != other.Kind {
		return false, false, false
	}
	forth, back = true, true
	for _, covers := range []func(wide, narrow choice) bool{
		choice.coversNamespaces, choice.coversLabels, choice.coversJudgement, choice.coversAge, choice.coversDeleted,
	} {
		wide, narrow := covers(c, other), covers(other, c)
		if !wide && !narrow {
			return false, false, false
		}
		forth, back = forth && wide, back && narrow
	}
	return forth, back, true
}

func (c choice) coversLabels(other choice) bool {
	return all(c.LabelFilters, func(f LabelFilter) bool {
		return slices.ContainsFunc(other.LabelFilters, func(o LabelFilter) bool { return f.isImpliedBy(o) })
	})
}

func (c choice) coversAge(other choice) bool {
	return ptr.Deref(c.MinAgeSeconds, 0) <= ptr.Deref(other.MinAgeSeconds, 0)
}

func (c choice) coversDeleted(other choice) bool {
	return !ptr.Deref(c.ExcludeDeleted, false) || ptr.Deref(other.ExcludeDeleted, false)
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

// coversJudgement is that of what judges objects.
func (c choice) coversJudgement(other choice) bool {
	return c.script == "" && (c.Finding == nil || reflect.DeepEqual(c.Finding, other.Finding)) &&
		(c.Evaluate == "" || c.Evaluate == other.Evaluate) &&
		all(c.MatchConditions, func(m MatchCondition) bool {
			return slices.ContainsFunc(
				other.MatchConditions,
				func(o MatchCondition) bool { return m.Expression == o.Expression },
			)
		}) &&
		c.hasInputsOf(other)
}

// coversNamespaces reports whether a selector looks into all namespaces that the other one looks into. Both fields of a
// selector together are the namespaces of the one and of the other.
func (c choice) coversNamespaces(other choice) bool {
	if c.Namespace == "" && c.NamespaceSelector == "" {
		return true
	}
	named := other.Namespace == "" || other.Namespace == c.Namespace ||
		coversSelector(c.NamespaceSelector, corev1.LabelMetadataName+"="+other.Namespace)
	selected := other.NamespaceSelector == "" || coversSelector(c.NamespaceSelector, other.NamespaceSelector) ||
		c.Namespace != "" && coversSelector(corev1.LabelMetadataName+"="+c.Namespace, other.NamespaceSelector)
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
func (c choice) hasInputsOf(other choice) bool {
	return c.Evaluate == "" && len(c.MatchConditions) == 0 ||
		reflect.DeepEqual(c.MetricSource, other.MetricSource) && reflect.DeepEqual(c.MetricQueries, other.MetricQueries) &&
			reflect.DeepEqual(c.LogSource, other.LogSource)
}

func all[T any](list []T, is func(T) bool) bool {
	return !slices.ContainsFunc(list, func(one T) bool { return !is(one) })
}
