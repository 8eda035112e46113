// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// plan is what a run decided before it touches anything.
type plan struct {
	// reading is how all of this was found.
	reading
	// progress is told how the run goes.
	progress   *progress
	selectors  []*selector.Selector
	selections []selector.Selection
	aggregated bool
	// lost says that the objects of the aggregated script are to be read once more. Nil if they are not.
	lost error
	// collected is how many bytes of memory the selection took.
	collected int64
	// candidates are what the selectors found; marks, on what they handed to the aggregated script.
	candidates []object.Candidate
	marks      []selector.Mark
	// verdicts are on the objects that matched, in the order in which they were found, each object once.
	verdicts []object.Verdict
	// scan, in most Scans, has the verdicts. Nil when verdicts does.
	scan *scan
	// notEvaluated are the objects that could not be judged.
	notEvaluated []object.Outcome
	considered   int64
	// waiting is how many objects match, but not yet in enough consecutive runs.
	waiting int
	// counts are what to save for the occurrence threshold. Nil when there is nothing to save.
	counts guard.Counts
	// namespaces are the metadata of the namespaces of the verdicts, for protection.
	namespaces map[string]*metav1.ObjectMeta
	// nowhere says which namespaces were looked in that there are not, or of which nobody knows.
	nowhere []string
	// incomplete says why the view is not complete; limit, which limit is exceeded. With either, nothing is touched.
	incomplete, limit error
	// aggregateFault says why the aggregated script did not choose.
	aggregateFault error
	// clock says why ages could not be judged; stopped, why the run did not come to all that it was going to touch.
	clock, stopped error
}

// judge is stage 2: the aggregated script over all that was selected, then the guards.
func (r *Runner) judge(ctx context.Context, record *v1alpha1.CleanerRun, plan *plan) {
	acts, cleaner := plan.acts, plan.cleaner
	r.aggregate(ctx, plan)
	if acts && plan.incomplete == nil {
		plan.incomplete = r.chooseAgain(ctx, plan)
	}
	plan.incomplete = errors.Join(plan.incomplete, r.countOccurrences(ctx, cleaner, record, plan))
	plan.incomplete = errors.Join(plan.incomplete, r.protect(ctx, plan))
	r.judgeClock(record, plan)
	if !acts {
		return
	}
	if plan.incomplete == nil {
		plan.incomplete = r.seenWhole(ctx, cleaner, record.Spec.Action, plan)
	}
	if plan.incomplete == nil {
		plan.limit, plan.incomplete = r.blastRadius(ctx, cleaner, plan)
	}
	switch {
	case plan.incomplete != nil:
		plan.leaveAlone("the view of the cluster was not complete")
	case plan.limit != nil:
		plan.leaveAlone(plan.limit.Error())
	default:
		r.Denials.spare(record, plan.verdicts, r.Clock.Now())
	}
}

// protect turns the verdicts on protected objects into skips. It reads the namespaces anew each time: an annotation that was
// set meanwhile counts. It does so with the operator's own rights: a guard must not depend on whom it guards against.
func (r *Runner) protect(ctx context.Context, plan *plan) error {
	if plan.scan != nil {
		return r.protectScan(ctx, plan.scan)
	}
	names := map[string]bool{}
	for i := range plan.verdicts {
		if verdict := &plan.verdicts[i]; verdict.Act && verdict.Namespace != "" {
			names[verdict.Namespace] = true
		}
	}
	var err error
	if plan.namespaces, err = r.Reader.Namespaces(ctx, slices.Sorted(maps.Keys(names))); err != nil {
		return fmt.Errorf("finding out which namespaces are protected: %w", err)
	}
	var errs []error
	for i := range plan.verdicts {
		if plan.verdicts[i].Act {
			verdict := &plan.verdicts[i]
			errs = append(errs, r.protectOne(plan, verdict, plan.namespaces[verdict.Namespace]))
		}
	}
	return errors.Join(errs...)
}

// namespacesOf reads the namespaces of the victims, for protection.
func (r *Runner) namespacesOf(ctx context.Context, intents []journal.Intent) (map[string]*metav1.ObjectMeta, error) {
	var names []string
	for i := range intents {
		if intents[i].Namespace != "" {
			names = append(names, intents[i].Namespace)
		}
	}
	slices.Sort(names)
	found, err := r.Reader.Namespaces(ctx, slices.Compact(names))
	if err != nil {
		err = fmt.Errorf("finding out which namespaces are protected: %w", err)
	}
	return found, err
}

// protectOne turns a verdict on an object that is protected, or in a namespace that is not selected any more, into a skip. namespace is
// the metadata of its namespace, nil if there is none.
func (r *Runner) protectOne(plan *plan, verdict *object.Verdict, namespace *metav1.ObjectMeta) error {
	reason, err := r.Protection.Reason(verdict.Object, namespace)
	switch {
	case err != nil:
		return err
	case reason != "":
		verdict.Act, verdict.Skip, verdict.Reason = false, v1alpha1.OutcomeProtected, reason
	case !plan.selectors[verdict.Selector].SelectsNamespace(verdict.Namespace, labelsOf(namespace)):
		verdict.Act, verdict.Skip = false, v1alpha1.OutcomeChanged
		verdict.Reason = "its namespace changed since it was judged, and is not selected any more"
	}
	return nil
}

func labelsOf(metadata *metav1.ObjectMeta) labels.Set {
	if metadata == nil {
		return nil
	}
	return metadata.Labels
}

// blastRadius compares what the run would touch with the Cleaner's limit.
func (r *Runner) blastRadius(ctx context.Context, cleaner *v1alpha1.Cleaner, plan *plan) (limit, fault error) {
	spec := cleaner.Spec.BlastRadiusLimit
	if spec == nil {
		return nil, nil
	}
	var matched, total int64
	for _, verdict := range plan.verdicts {
		if verdict.Act {
			matched++
		}
	}
	if spec.MaxPercentage != nil && matched > 0 {
		if total, fault = r.total(ctx, plan); fault != nil {
			return nil, fmt.Errorf("counting for blastRadiusLimit: %w", fault)
		}
	}
	return guard.BlastRadius(spec, matched, total), nil
}

// total counts the objects of the kinds that can be acted on, in the selected namespaces, before label filters. Kinds that
// an aggregated script only looks things up in are not counted: of an aggregated selection, those that it returned are.
func (r *Runner) total(ctx context.Context, plan *plan) (int64, error) {
	// By group and kind: two selectors may name two versions of one kind, whose objects are the same.
	returned := map[schema.GroupKind]bool{}
	for _, verdict := range plan.verdicts {
		if verdict.Act {
			returned[verdict.Kind.GroupKind()] = true
		}
	}
	kinds, scopes := map[schema.GroupKind]object.Kind{}, map[schema.GroupKind]selector.Scope{}
	for _, selection := range plan.selections {
		kind := selection.Kind.GroupKind()
		if plan.aggregated && !returned[kind] {
			continue
		}
		kinds[kind], scopes[kind] = selection.Kind, scopes[kind].Union(selection.Scope)
	}
	var total int64
	for kind, scope := range scopes {
		n, err := plan.who.reader.Count(ctx, kinds[kind], scope)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// leaveAlone turns every verdict to act into one not to.
func (p *plan) leaveAlone(reason string) {
	for i := range p.verdicts {
		if v := &p.verdicts[i]; v.Act {
			v.Act, v.Skip, v.Reason = false, v1alpha1.OutcomeNotActed, reason
		}
	}
}

// exhausted reports whether a script used up its time or memory.
func (p *plan) exhausted(outcomes []object.Outcome) bool {
	of := func(o object.Outcome) bool { return exhausted(o.Err) }
	return exhausted(p.incomplete) || slices.ContainsFunc(p.notEvaluated, of) || slices.ContainsFunc(outcomes, of)
}
