// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/expr"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/summary"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// Read is the stage that reads everything that a run decides by. It writes nothing.
type Read struct {
	// Protected says what is protected. Its Operator reads with the operator's own rights: a guard must not depend on whom
	// it guards against.
	survey.Protected
	// Counts reads in how many runs each object has matched, and which run counted last. Nil in a preview, which does not
	// count.
	Counts func(ctx context.Context, cleaner *v1alpha1.Cleaner) (counts map[string]int64, lastRun string, err error)
	// Survey adds what else is known for findings, such as the references that users declared. Nil when nothing is.
	// Learned keeps what the cluster's schemas say of references.
	Survey  func(ctx context.Context, options *survey.Options) error
	Learned *survey.Schemas
	// CheckClock says what is wrong with the operator's clock. Nil when nothing can be known of that.
	CheckClock func() error
	// Denials are what admission denied in the runs so far.
	Denials *action.Denials
	Clock   clock.PassiveClock
}

// read makes the view: one list per selector, each object judged as it passes, and then what the guards need to know.
func (s Read) read(ctx context.Context, t *task) *view {
	v := &view{matched: &stage.Verdicts{}, clock: s.clockFault()}
	countsFault, memory := s.readCounts(ctx, t, v), t.engine.Memory
	taken := memory.Taken()
	if v.findings, v.unread = s.readFindings(ctx, t, memory, v.counts); v.unread != nil {
		return v
	}
	found := s.list(ctx, t, v)
	v.bytes = memory.Taken() - taken
	if isOutgrown(v.unread) {
		return v
	}
	acts := t.acts() && v.whyIncomplete(t.cleaner) == nil
	faults := []error{v.unread}
	add := func(err error) {
		if !t.preview || !summary.Forbidden(err) {
			faults = append(faults, err)
		}
	}
	add(s.readNowhere(ctx, t, v))
	add(countsFault)
	add(s.readNamespaces(ctx, v, found))
	if acts {
		v.hidden, v.totals = s.readHidden(ctx, t, v), s.readTotals(ctx, t, v)
		if v.matched.Len()+len(v.marks) > 0 { // else the run touches nothing
			add(expr.CheckConditions(ctx, s.Operator.Defined(t.now), t.cleaner))
		}
	}
	v.denied = s.Denials.Of(t.record, s.Clock.Now())
	v.clock, v.unread = cmp.Or(v.clock, s.clockFault()), errors.Join(faults...)
	return v
}

// list reads one list per selector. After one for which the scripts need more memory, the rest is not read.
func (s Read) list(ctx context.Context, t *task, v *view) (namespaces map[string]struct{}) {
	e := t.engine
	found := selector.Matches{
		Whole:     e.ChangesManagedFields(),
		Aggregate: e.Aggregate(),
		Observer:  t.observer,
		Memory:    e.Memory,
	}
	found.Protect = func(v *stage.Verdict) error { return s.Protection.MarkOwn(t.cleaner.EffectiveAction(), v) }
	found.Verdicts.Bodies = t.keepsBodies()
	var errs, unjudged []error
	for i, spec := range t.cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		judge := e.Judge(i)
		judge.Finding = v.findings.Judge(i)
		sel, err := selector.New(i, spec, judge, t.now)
		var selection selector.Selection
		if err == nil {
			selection = sel.Select(ctx, t.who.Reader, &found)
			err = selection.Err
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("resourceSelectors[%d]: %w", i, err))
		} else if err := selection.Unjudged(); err != nil {
			unjudged = append(unjudged, fmt.Errorf("resourceSelectors[%d]: %w", i, err))
		}
		v.selectors = append(v.selectors, sel)
		v.selections = append(v.selections, selection)
		v.considered += selection.Considered
		v.addNotEvaluated(selection.NotEvaluated)
		if isOutgrown(err) {
			break
		}
	}
	v.matched, v.marks = &found.Verdicts, found.Marks
	v.unread, v.unjudged = errors.Join(append(errs, found.Faults...)...), errors.Join(unjudged...)
	v.mask = found.Mask()
	return found.Namespaces
}

// isOutgrown reports whether the scripts need more memory than the run has, and another run can have more.
func isOutgrown(err error) bool {
	var outgrown *sandbox.OutgrownError
	return errors.As(err, &outgrown)
}

// readCounts reads in how many runs each object has matched, where that counts.
func (s Read) readCounts(ctx context.Context, t *task, v *view) error {
	if s.Counts == nil || !t.cleaner.KeepsCounts() {
		return nil
	}
	var counts map[string]int64
	counts, v.counted, v.countsFault = s.Counts(ctx, t.cleaner)
	if err := t.engine.Memory.Take(countSize * len(counts)); err != nil {
		counts, v.countsFault = nil, fmt.Errorf("not enough memory for the counts of %d objects in earlier runs: %w", len(counts), err)
	}
	v.counts = counts
	return v.countsFault
}

// countSize is about what a count takes until the run ends: its key, its place in a map and in its copy, and its text
// when it is written or read. In bytes. The counts of earlier runs and those with this run are charged apart.
const countSize = 300

// readNamespaces reads the namespaces of what matched, for protection.
func (s Read) readNamespaces(ctx context.Context, v *view, names map[string]struct{}) (err error) {
	delete(names, "")
	v.namespaces, err = namespacesOf(ctx, s.Operator, slices.Sorted(maps.Keys(names)))
	return err
}

// readHidden finds out, kind by kind, why objects are not seen whole that are to be copied or changed. Nobody else
// needs them whole.
func (s Read) readHidden(ctx context.Context, t *task, v *view) map[schema.GroupVersionKind]error {
	deletes := t.action == v1alpha1.ActionDelete
	if deletes && t.cleaner.CopyStorage() == v1alpha1.StorageNone {
		return nil
	}
	hidden := map[schema.GroupVersionKind]error{}
	for _, selection := range v.selections {
		gvk := selection.Kind.GroupVersionKind
		if _, asked := hidden[gvk]; !asked && selection.Considered > 0 {
			hidden[gvk] = s.Operator.Whole(ctx, selection.Kind, !deletes, t.now)
		}
	}
	return hidden
}

// readTotals counts the objects of each kind where the selectors look, before label filters, for a limit in percent.
func (s Read) readTotals(ctx context.Context, t *task, v *view) map[schema.GroupKind]total {
	limit := t.cleaner.Spec.BlastRadiusLimit
	if limit == nil || limit.MaxPercentage == nil || v.matched.Len()+len(v.marks) == 0 {
		return nil
	}
	// By group and kind: two selectors may name two versions of one kind, whose objects are the same.
	kinds, scopes := map[schema.GroupKind]object.Kind{}, map[schema.GroupKind]selector.Scope{}
	for _, selection := range v.selections {
		kind := selection.Kind.GroupKind()
		kinds[kind], scopes[kind] = selection.Kind, scopes[kind].Union(selection.Scope)
	}
	totals := make(map[schema.GroupKind]total, len(kinds))
	for kind, scope := range scopes {
		n, err := t.who.Reader.Count(ctx, kinds[kind], scope)
		totals[kind] = total{n, err}
	}
	return totals
}

// readNowhere finds out which selectors name a namespace that does not exist: an API server lists nothing in it, as in
// an empty one. An aggregated script would take everything for unused then: where something is to be touched, the view
// is not complete.
func (s Read) readNowhere(ctx context.Context, t *task, v *view) error {
	var errs []error
	for i, selection := range v.selections {
		name := t.cleaner.Spec.ResourcePolicySet.ResourceSelectors[i].Namespace
		if name == "" || selection.Err != nil || selection.Considered > 0 {
			continue
		}
		found, err := s.Operator.Namespaces(ctx, []string{name})
		switch {
		case err != nil:
			err = fmt.Errorf("resourceSelectors[%d]: whether there is a namespace %s could not be found out: %w", i, name, err)
		case found[name] == nil:
			err = fmt.Errorf("resourceSelectors[%d]: there is no namespace %s: correct it, or remove the selector", i, name)
		default:
			continue
		}
		if t.acts() && t.engine.Aggregate() != nil {
			errs = append(errs, err)
		} else { // nothing is selected, whether it is there or not
			v.emptyScopes = append(v.emptyScopes, summary.OneLine(err)+".")
		}
	}
	return errors.Join(errs...)
}

// clockFault says why ages cannot be judged.
func (s Read) clockFault() error {
	if s.CheckClock == nil {
		return nil
	}
	return s.CheckClock()
}
