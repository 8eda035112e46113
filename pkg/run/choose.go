// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// choice is what of a view is meant: what the aggregated script chooses, or all that matches.
type choice struct {
	view *view
	// matched are the objects that are meant, and cascade the protected ones that would be deleted together with them.
	matched *object.Verdicts
	cascade *guard.Cascade
	// incomplete says why the view is not complete: then nothing is touched.
	incomplete error
	// scriptFault says why the aggregated script did not choose.
	scriptFault error
}

// choose reads the view and lets the aggregated script choose. The script never sees a part of the objects only: of a view that is not
// complete, nothing is chosen.
func (r *Runner) choose(ctx context.Context, t *task) choice {
	v := r.Read.read(ctx, t)
	c := choice{view: v, matched: v.matched, incomplete: v.whyIncomplete(t.cleaner)}
	if t.expressions.aggregate == nil || c.incomplete != nil {
		return c
	}
	t.progress.enter(metrics.StageJudge, 0)
	selector.Tell(t.observer.Chooses)
	if c.matched, c.scriptFault = t.expressions.pick(ctx, v.marks); c.scriptFault != nil {
		c.matched, c.incomplete = &object.Verdicts{}, c.scriptFault
	}
	return c
}

// pick runs the aggregated script over the candidates that it was given while they were found. Its messages stand before the
// selectors'.
func (e *expressions) pick(ctx context.Context, marks []selector.Mark) (*object.Verdicts, error) {
	chosen, before := 0, e.memory.Taken()
	e.aggregate.Keep = func(bytes int) error { chosen++; return e.memory.Choose(chosen, bytes) }
	for i, mark := range marks {
		if mark.Excluded {
			e.aggregate.Unchosen = append(e.aggregate.Unchosen, i)
		}
	}
	selected, err := e.aggregate.Finish(ctx)
	if err != nil {
		e.memory.GiveBack(e.memory.Taken() - before)
		return nil, object.MaskError(e.mask, "aggregatedSelection", err)
	}
	picked := &object.Verdicts{Bodies: true}
	for _, match := range selected {
		mark := marks[match.Index]
		candidate := object.Candidate{Object: match.Object, Selector: mark.Selector, Message: mark.Message}
		if match.Message != "" {
			candidate.Message = e.mask(match.Message)
		}
		picked.Add(object.Verdict{Candidate: candidate, Act: true})
	}
	return picked, nil
}

// collect begins the aggregate.
func (e *expressions) collect() {
	e.aggregate = e.session.Aggregate(e.cleaner.Spec.ResourcePolicySet.AggregatedSelection)
	if e.leaveOutData {
		e.aggregate.LeaveOutData()
	}
}

// renew begins a new aggregate, in place of the one that a view was read with.
func (e *expressions) renew(v *view) {
	namesOnly := e.aggregate.NamesOnly
	e.aggregate.Close()
	e.collect()
	e.aggregate.NamesOnly = namesOnly
	e.memory.GiveBack(v.bytes)
	e.mask = nil
	for _, conditions := range e.conditions {
		if conditions != nil {
			conditions.Renew()
		}
	}
}

// confirm decides a second time what was decided from many objects, after it was written down: what the aggregated script does not choose
// again is left alone.
func (r *Runner) confirm(ctx context.Context, t *task, in *intent) *intent {
	if !t.acts() || t.expressions.aggregate == nil || in.left || in.fault != nil || in.stopped != nil || context.Cause(ctx) != nil || !needsConfirming(in) {
		return in
	}
	again := *t
	again.progress, again.observer = nil, selector.Observer{}
	t.expressions.renew(in.decision.view) // only what was chosen is kept of the first reading
	t.expressions.aggregate.NamesOnly = true
	now := r.choose(ctx, &again)
	if now.incomplete != nil {
		return in.unconfirmed(fmt.Errorf("reading everything a second time: %w", now.incomplete), now.scriptFault)
	}
	still := make(map[types.UID]bool, now.matched.Len())
	for _, verdict := range now.matched.All() {
		still[verdict.UID] = true
	}
	return in.without(func(o object.Object) bool { return !still[o.UID] }, v1alpha1.OutcomeChanged,
		"when everything was read a second time, the aggregated script did not choose it any more")
}

// needsConfirming reports whether anything that is to be touched, or counts as a match, may have been used unseen.
func needsConfirming(in *intent) bool {
	d := in.decision
	var chosen []object.Verdict
	for i, verdict := range d.matched.All() {
		if d.acts(i, verdict) || d.rulings[i] == waits && in.counts != nil {
			verdict.Raw = nil
			chosen = append(chosen, verdict)
		}
	}
	return len(chosen) > 0 && !sawAllUses(d.view.selections, chosen)
}

// sawAllUses reports whether one reading shows all that uses the chosen objects. The lists are read one after the other. One list is of a single
// moment. Of two, the second is younger than all objects of the first. Otherwise what uses an object may not be in any list: it was created
// after its own was read, or moved from a list that was not read yet to one that was.
func sawAllUses(selections []selector.Selection, chosen []object.Verdict) bool {
	lists := 0
	for _, selection := range selections {
		lists += selection.Scope.Lists()
	}
	later := func(v object.Verdict) bool { return v.Selector > 0 }
	return lists < 2 || lists == 2 && selections[0].Scope.Lists() == 1 && !slices.ContainsFunc(chosen, later)
}
