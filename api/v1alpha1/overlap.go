// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/utils/ptr"
)

// Reach is on which objects a Cleaner acts, prepared so that thousands can be compared.
// +kubebuilder:object:generate=false
type Reach struct {
	action Action
	// choices are those of all selectors, sorted by kind.
	choices []choice
}

// choice is what a selector selects, and what an aggregated script then chooses of it.
// +kubebuilder:object:generate=false
type choice struct {
	of     schema.GroupKind
	script string
	// places are the namespaces: what is in one of them is in. None means all namespaces.
	places []requirements
	// labels are nil when one of them is not valid: then nobody knows what they select.
	labels   requirements
	selector *ResourceSelector
}

// requirements are all those of a label selector.
// +kubebuilder:object:generate=false
type requirements []labels.Requirement

// Reach returns on which objects the Cleaner acts. It is nil for one that only reports.
func (c *Cleaner) Reach() *Reach {
	if c.EffectiveAction() == ActionScan {
		return nil
	}
	r := &Reach{action: c.EffectiveAction()}
	for i := range c.Spec.ResourcePolicySet.ResourceSelectors { // by reference: a selector is large
		s := c.Spec.ResourcePolicySet.ResourceSelectors[i].DeepCopy()
		r.choices = append(r.choices, choice{
			of:     schema.GroupKind{Group: s.Group, Kind: s.Kind},
			script: c.Spec.ResourcePolicySet.AggregatedSelection,
			places: s.places(), labels: s.requirements(), selector: s,
		})
	}
	slices.SortStableFunc(r.choices, func(a, b choice) int {
		return cmp.Or(cmp.Compare(a.of.Kind, b.of.Kind), cmp.Compare(a.of.Group, b.of.Group))
	})
	return r
}

// Overlap returns the first kind, by name, of objects on which two Cleaners both act, as far as selectors show it.
// Wide is the one that selects all objects of that kind that the other one selects. It is nil when they have only some
// of them in common, which matters only if one of them changes objects: one delete is as good as another. The kind is
// empty when nothing shows that they have any in common, which is no proof, and when one of the two only reports.
func Overlap(one, other *Reach) (kind string, wide *Reach) {
	if one == nil || other == nil {
		return "", nil
	}
	changes := one.action == ActionTransform || other.action == ActionTransform
	for i := range one.choices {
		of := one.choices[i].of
		switch {
		case one.covers(other, of):
			return of.Kind, one
		case other.covers(one, of):
			return of.Kind, other
		case kind == "" && changes && one.meets(other, of):
			kind = of.Kind
		}
	}
	return kind, nil
}

// covers reports whether all objects of a kind that the other one selects are certainly selected.
func (r *Reach) covers(other *Reach, of schema.GroupKind) (is bool) {
	for i := range other.choices {
		narrow := &other.choices[i]
		if narrow.of != of {
			continue
		}
		if !slices.ContainsFunc(r.choices, func(wide choice) bool { return wide.covers(narrow) }) {
			return false
		}
		is = true
	}
	return is
}

// meets reports whether two selectors of a kind certainly have objects in common, if there are such objects.
func (r *Reach) meets(other *Reach, of schema.GroupKind) bool {
	return slices.ContainsFunc(r.choices, func(a choice) bool {
		return a.of == of && slices.ContainsFunc(other.choices, func(b choice) bool {
			return a.meets(&b)
		})
	})
}

// respects are those in which a choice can let through all that another one does.
var respects = []func(wide, narrow *choice) bool{
	(*choice).coversNamespaces, (*choice).coversLabels, (*choice).coversJudgement,
	(*choice).coversAge, (*choice).coversDeleted,
}

// covers reports whether a choice certainly has all that the other one has.
func (c *choice) covers(other *choice) bool {
	return c.of == other.of && all(respects, func(covers func(wide, narrow *choice) bool) bool { return covers(c, other) })
}

// meets reports whether, in each respect, one of the two lets all through that the other one lets through.
func (c *choice) meets(other *choice) bool {
	return c.of == other.of && all(respects, func(covers func(wide, narrow *choice) bool) bool {
		return covers(c, other) || covers(other, c)
	})
}

// coversNamespaces reports whether all namespaces of the other one are those of this one, too.
func (c *choice) coversNamespaces(other *choice) bool {
	if c.selector.NamespaceSelector == "" && other.selector.NamespaceSelector == "" { // of thousands, most are such
		return c.selector.Namespace == "" || c.selector.Namespace == other.selector.Namespace
	}
	return len(c.places) == 0 || len(other.places) > 0 && all(other.places, func(narrow requirements) bool {
		return slices.ContainsFunc(c.places, func(wide requirements) bool { return len(wide) > 0 && wide.cover(narrow) })
	})
}

func (c *choice) coversLabels(other *choice) bool {
	return len(c.selector.LabelFilters) == 0 || c.labels != nil && c.labels.cover(other.labels)
}

func (c *choice) coversAge(other *choice) bool {
	return ptr.Deref(c.selector.MinAgeSeconds, 0) <= ptr.Deref(other.selector.MinAgeSeconds, 0)
}

func (c *choice) coversDeleted(other *choice) bool {
	return !c.selector.SkipsDeleted() || other.selector.SkipsDeleted()
}

// coversJudgement is that of what judges objects.
func (c *choice) coversJudgement(other *choice) bool {
	s, o := c.selector, other.selector
	return c.script == "" && (s.Finding == nil || reflect.DeepEqual(s.Finding, o.Finding)) &&
		(s.Evaluate == "" || s.Evaluate == o.Evaluate) &&
		all(s.MatchConditions, func(m MatchCondition) bool {
			return slices.ContainsFunc(o.MatchConditions, func(n MatchCondition) bool {
				return m.Expression == n.Expression
			})
		}) && s.hasInputsOf(o)
}

// hasInputsOf reports whether equal conditions and scripts are asked about the same inputs.
func (s *ResourceSelector) hasInputsOf(other *ResourceSelector) bool {
	return s.Evaluate == "" && len(s.MatchConditions) == 0 ||
		s.Version == other.Version && s.WantsEvents() == other.WantsEvents() &&
			reflect.DeepEqual(s.MetricSource, other.MetricSource) && reflect.DeepEqual(s.MetricQueries, other.MetricQueries) &&
			reflect.DeepEqual(s.LogSource, other.LogSource)
}

// places are the namespaces of a selector: its two fields together are those of the one and of the other.
func (s *ResourceSelector) places() (all []requirements) {
	selectors := []string{s.NamespaceSelector}
	if s.Namespace != "" {
		selectors = append(selectors, corev1.LabelMetadataName+" in ("+s.Namespace+")")
	}
	for _, text := range selectors {
		if text != "" {
			place, _ := labels.ParseToRequirements(text) // of a wrong one nobody knows what it selects
			all = append(all, place)
		}
	}
	return all
}

// requirements are the label filters of a selector.
func (s *ResourceSelector) requirements() (all requirements) {
	for _, f := range s.LabelFilters {
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
		all = append(all, *found)
	}
	return all
}

// cover reports whether all labels that meet the narrow requirements certainly meet these.
func (r requirements) cover(narrow requirements) bool {
	for i := range r { // a copy of each would take the most time
		implied := false
		for j := range narrow {
			implied = implied || implies(&narrow[j], &r[i])
		}
		if !implied {
			return false
		}
	}
	return true
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

func all[T any](list []T, is func(T) bool) bool {
	return !slices.ContainsFunc(list, func(one T) bool { return !is(one) })
}
