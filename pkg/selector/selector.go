// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// maxConsecutiveErrors is after how many objects in a row that a script failed on it is not tried on more.
const maxConsecutiveErrors = 100

// Judge says whether one object matches, and why. An error means that it could not be judged: never that it does not
// match.
type Judge func(ctx context.Context, o object.Object) (matches bool, message string, err error)

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
}

// New prepares the selector at the given index of a Cleaner. A nil judge matches every object. now is what ages are
// measured from. The errors are the user's to mend: they name the field.
func New(index int, spec v1alpha1.ResourceSelector, judge Judge, now time.Time) (*Selector, error) {
	s := &Selector{
		index:          index,
		gvk:            schema.GroupVersionKind{Group: spec.Group, Version: spec.Version, Kind: spec.Kind},
		namespace:      spec.Namespace,
		excludeDeleted: spec.ExcludeDeleted == nil || *spec.ExcludeDeleted,
		judge:          judge,
		now:            now,
	}
	if spec.MinAgeSeconds != nil {
		s.minAge = time.Duration(min(*spec.MinAgeSeconds, int64(math.MaxInt64/time.Second))) * time.Second
	}
	var errs []error
	if spec.NamespaceSelector != "" {
		parsed, err := labels.Parse(spec.NamespaceSelector)
		if err == nil && parsed.Empty() {
			err = errors.New("it is blank, which would select every namespace; leave it out for that")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("namespaceSelector %q is not a label selector such as \"env=prod\": %w", spec.NamespaceSelector, err))
		}
		s.namespaces = parsed
	}
	var err error
	if s.labels, err = labelSelector(spec.LabelFilters); err != nil {
		errs = append(errs, err)
	}
	return s, errors.Join(errs...)
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

// Resolve finds out what the selector's kind is in this cluster.
func (s *Selector) Resolve(ctx context.Context, reader *Reader) (object.Kind, error) {
	kind, err := reader.Resolve(ctx, s.gvk)
	if err != nil {
		return object.Kind{}, err
	}
	// Without this check a namespace on a cluster-scoped kind would be read as the whole cluster.
	if !kind.Namespaced && (s.namespace != "" || s.namespaces != nil) {
		return object.Kind{}, &UnknownKindError{s.gvk, "is cluster-scoped: remove namespace and namespaceSelector from its selector"}
	}
	return kind, nil
}

// Selection is what a selector found.
type Selection struct {
	Kind  object.Kind
	Scope Scope
	// Considered is how many objects were judged.
	Considered int64
	// Candidates are the objects that match.
	Candidates []object.Candidate
	// NotEvaluated are the objects that could not be judged.
	NotEvaluated []object.Outcome
	// Err says why the view is not complete, if it is not.
	Err error
}

// Select reads and judges all that the selector selects. What it found stands in the Selection also when the view is not
// complete, for the report; nothing may be touched then.
func (s *Selector) Select(ctx context.Context, reader *Reader) Selection {
	var result Selection
	if result.Kind, result.Err = s.Resolve(ctx, reader); result.Err != nil {
		return result
	}
	if result.Scope, result.Err = reader.scope(ctx, s.namespace, s.namespaces); result.Err != nil {
		return result
	}
	for _, path := range result.Scope.paths(result.Kind) {
		collection := collector{selector: s, kind: result.Kind}
		err := reader.list(ctx, result.Kind, path, s.labels.String(), collection.reset, func(raw []byte) error {
			return collection.add(ctx, raw)
		})
		result.Considered += collection.considered
		result.Candidates = append(result.Candidates, collection.candidates...)
		result.NotEvaluated = append(result.NotEvaluated, collection.notEvaluated...)
		if err != nil {
			reader.forget(err, s.gvk)
			result.Err = err
			return result
		}
	}
	if n := len(result.NotEvaluated); n > 0 {
		first := result.NotEvaluated[0]
		result.Err = fmt.Errorf("%s on %s (%d of %d objects could not be judged)", first.Detail, first.Object, n, result.Considered)
	}
	return result
}

// Again judges a live object as Select would have.
func (s *Selector) Again(ctx context.Context, o object.Object, scope Scope) (matches bool, message string, err error) {
	metadata, err := o.Metadata()
	if err != nil {
		return false, "", err
	}
	if !scope.Contains(o.Namespace) || !s.labels.Matches(labels.Set(metadata.Labels)) || !s.eligible(o) {
		return false, "", nil
	}
	return s.matches(ctx, o)
}

func (s *Selector) eligible(o object.Object) bool {
	if s.excludeDeleted && o.Deleting {
		return false
	}
	return s.minAge == 0 || (!o.Created.IsZero() && s.now.Sub(o.Created) >= s.minAge)
}

func (s *Selector) matches(ctx context.Context, o object.Object) (bool, string, error) {
	if s.judge == nil {
		return true, "", nil
	}
	return s.judge(ctx, o)
}

// collector gathers what one list yields.
type collector struct {
	selector     *Selector
	kind         object.Kind
	considered   int64
	candidates   []object.Candidate
	notEvaluated []object.Outcome
	failures     int // in a row
}

func (c *collector) reset() {
	*c = collector{selector: c.selector, kind: c.kind}
}

func (c *collector) add(ctx context.Context, raw []byte) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	o, err := object.New(c.kind, raw)
	if err != nil {
		return err
	}
	if !c.selector.eligible(o) {
		return nil
	}
	c.considered++
	matches, message, err := c.selector.matches(ctx, o)
	candidate := object.Candidate{Object: o, Selector: c.selector.index, Message: message}
	if err != nil {
		if stopped := context.Cause(ctx); stopped != nil {
			return stopped // the run was stopped in the middle of the script, which is no failure of the script's
		}
		c.failures++
		c.notEvaluated = append(c.notEvaluated, object.Outcome{
			Verdict: object.Verdict{Candidate: candidate, Skip: v1alpha1.OutcomeNotEvaluated, Reason: err.Error()},
			Result:  v1alpha1.OutcomeNotEvaluated, Detail: err.Error(), Err: err,
		})
		if c.failures == maxConsecutiveErrors {
			return fmt.Errorf("the script failed on %d objects in a row, the last time on %s: %w", c.failures, o, err)
		}
		return nil
	}
	c.failures = 0
	if matches {
		c.candidates = append(c.candidates, candidate)
	}
	return nil
}
