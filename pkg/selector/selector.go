// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// Judge says which of the objects that a selector selects match. The zero Judge matches all.
type Judge struct {
	// Conditions are asked first. Nil when there are none.
	Conditions *cel.Run
	// Script is the source of evaluate, which Session runs. Empty when there is none.
	Script  string
	Session *sandbox.Session
	// MetadataOnly is true when the metadata, kind and apiVersion of an object are all that anybody needs of it, now and
	// later. Then no more is asked of the server.
	MetadataOnly bool
	// Aggregated says that what matches is for an aggregated script. Then objects that are excluded because they are being
	// deleted match as well: they still use what they use. See Selector.Excludes.
	Aggregated bool
	// Metrics asks the metricQueries. Nil where there is nobody to ask.
	Metrics *inputs.Metrics
	// Given are inputs that are read from files instead. Nil when there are none.
	Given *Given
	// Finding says what was found of an object; ok is false of one of which nothing was that is asked for. It is asked
	// after what the selector itself says, and before Conditions. Nil where nobody knows: then a selector that asks for a
	// finding matches nothing.
	Finding func(o object.Object) (found Finding, ok bool)
}

// Finding is what was found of an object: why, in a sentence, and all of it as conditions and scripts take it.
type Finding struct {
	Reason string
	Data   object.JSON
}

// Given are the inputs of objects that are not of a cluster. What is nil is not at hand, which is not the same as that
// there is nothing.
type Given struct {
	Metrics object.JSON
	Events  *inputs.Events
	// Log returns a log of a Pod.
	Log func(pod object.Object, wanted inputs.Log) (string, error)
}

// Selector is one resource selector of a Cleaner, ready to read the cluster.
type Selector struct {
	index          int
	gvk            schema.GroupVersionKind
	namespace      string
	namespaces     labels.Selector
	labels         labels.Selector
	excludeDeleted bool
	minAge         time.Duration
	judge          Judge
	now            time.Time
	// spec says which inputs are wanted.
	spec v1alpha1.ResourceSelector
	// reader is that of the cluster in which the kind was resolved. Nil before.
	reader *Reader
	// asked are the results of the metricQueries. Nil before.
	asking sync.Mutex
	asked  object.JSON
}

// New prepares the selector at the given index of a Cleaner. now is what ages are
// measured from. The errors are for the user to correct: they name the field.
func New(index int, spec v1alpha1.ResourceSelector, judge Judge, now time.Time) (*Selector, error) {
	s := &Selector{
		index:          index,
		gvk:            schema.GroupVersionKind{Group: spec.Group, Version: spec.Version, Kind: spec.Kind},
		namespace:      spec.Namespace,
		excludeDeleted: spec.SkipsDeleted(),
		judge:          judge,
		spec:           spec,
		now:            now,
	}
	if spec.MinAgeSeconds != nil {
		s.minAge = time.Duration(min(*spec.MinAgeSeconds, int64(math.MaxInt64/time.Second))) * time.Second
	}
	errs := checkNames(spec)
	if spec.NamespaceSelector != "" {
		parsed, err := labels.Parse(spec.NamespaceSelector)
		if err == nil && parsed.Empty() {
			err = errors.New("it contains only spaces; to select every namespace, remove the field")
		}
		if err != nil {
			errs = append(
				errs,
				fmt.Errorf("namespaceSelector %q is not a label selector such as \"env=prod\": %w", spec.NamespaceSelector, err),
			)
		}
		s.namespaces = parsed
	}
	var err error
	if s.labels, err = labelSelector(spec.LabelFilters); err != nil {
		errs = append(errs, err)
	}
	return s, errors.Join(errs...)
}

// checkNames says which of the names in a selector are none, which an older CustomResourceDefinition may have let
// through.
func checkNames(spec v1alpha1.ResourceSelector) []error {
	var errs []error
	for _, of := range []struct{ field, text string }{
		{"group", spec.Group}, {"version", spec.Version}, {"kind", spec.Kind}, {"namespace", spec.Namespace},
	} {
		if err := apiserver.CheckSegment(of.text); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", of.field, err))
		}
	}
	return errs
}

func labelSelector(filters []v1alpha1.LabelFilter) (labels.Selector, error) {
	operators := map[v1alpha1.Operation]selection.Operator{
		v1alpha1.OperationEqual:       selection.Equals,
		v1alpha1.OperationDifferent:   selection.NotEquals,
		v1alpha1.OperationHas:         selection.Exists,
		v1alpha1.OperationDoesNotHave: selection.DoesNotExist,
	}
	all := labels.NewSelector()
	var errs []error
	for i, filter := range filters {
		operator := operators[filter.Operation]
		var values []string
		if operator == selection.Equals || operator == selection.NotEquals {
			values = []string{""}
			if filter.Value != nil {
				values[0] = *filter.Value
			}
		}
		requirement, err := labels.NewRequirement(filter.Key, operator, values)
		if err != nil {
			errs = append(errs, fmt.Errorf("labelFilters[%d]: %w", i, err))
			continue
		}
		all = all.Add(*requirement)
	}
	return all, errors.Join(errs...)
}

// Resolve finds out what the selector's kind is in this cluster, from which it reads from then on.
func (s *Selector) Resolve(ctx context.Context, reader *Reader) (object.Kind, error) {
	s.reader = reader
	kind, err := reader.Resolve(ctx, s.gvk)
	if err != nil {
		return object.Kind{}, err
	}
	// Without this check a namespace on a cluster-scoped kind would be read as the whole cluster.
	if !kind.Namespaced && (s.namespace != "" || s.namespaces != nil) {
		return object.Kind{}, &UnknownKindError{
			s.gvk,
			"is cluster-scoped: remove namespace and namespaceSelector from its selector",
			true,
		}
	}
	return kind, nil
}

// SelectsNamespace reports whether the selector selects objects of the namespace, whose labels are given. That of a
// cluster-scoped object is empty.
func (s *Selector) SelectsNamespace(name string, has labels.Set) bool {
	everywhere := s.namespace == "" && s.namespaces == nil
	return everywhere || s.namespace != "" && s.namespace == name || s.namespaces != nil && s.namespaces.Matches(has)
}
