// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// ownerOf names a Cleaner as it is: what is known of its scripts is forgotten when it is edited.
func ownerOf(cleaner *v1alpha1.Cleaner) string {
	return fmt.Sprintf("%s/%d", cleaner.UID, cleaner.Generation)
}

// aggregate makes verdicts of the candidates: the aggregated script chooses, or all are meant. The script never sees a part of
// the objects only: then nothing is chosen.
func (r *Runner) aggregate(ctx context.Context, plan *plan) {
	chosen := plan.candidates
	if plan.aggregated {
		chosen = r.pick(ctx, plan)
	}
	plan.candidates, plan.marks = nil, nil
	for _, candidate := range chosen {
		plan.verdicts = append(plan.verdicts, object.Verdict{Candidate: candidate, Act: true})
	}
}

// pick lets the aggregated script choose, if the view is complete. If the objects are lost, it reads them once more, into the plan.
func (r *Runner) pick(ctx context.Context, plan *plan) []object.Candidate {
	for plan.incomplete == nil {
		selector.Tell(plan.observer.Chooses)
		chosen, err := plan.expressions.pick(ctx, plan.marks)
		if err == nil {
			return chosen
		}
		if !isLost(err) || !plan.expressions.startOver(ctx, plan, err) {
			plan.incomplete, plan.aggregateFault = err, err
			return nil
		}
		selector.Tell(plan.observer.Again)
		progress := plan.progress
		progress.enter(metrics.StageList, 0)
		*plan = *r.readLost(ctx, plan.reading)
		plan.progress = progress
		progress.enter(metrics.StageJudge, 0)
	}
	return nil
}

// pick runs the aggregated script over the candidates that it was given while they were found. Its messages stand before the
// selectors'.
func (e *expressions) pick(ctx context.Context, marks []selector.Mark) ([]object.Candidate, error) {
	chosen, before := 0, e.memory.Taken()
	e.aggregate.Keep = func(bytes int) error { chosen++; return e.memory.Choose(chosen, bytes) }
	selected, err := e.aggregate.Finish(ctx)
	if err != nil {
		e.memory.GiveBack(e.memory.Taken() - before)
		return nil, object.MaskError(e.mask, "aggregatedSelection", err)
	}
	picked := make([]object.Candidate, 0, len(selected))
	for _, match := range selected {
		mark := marks[match.Index]
		candidate := object.Candidate{Object: match.Object, Selector: mark.Selector, Message: mark.Message}
		if match.Message != "" {
			candidate.Message = e.mask(match.Message)
		}
		picked = append(picked, candidate)
	}
	return picked, nil
}

// startOver lets an aggregated script be given everything once more, unless that was done often enough: what was collected for it
// before is given back, its Secrets too.
func (e *expressions) startOver(ctx context.Context, plan *plan, cause error) bool {
	if e.readings == sandbox.MaxTries || context.Cause(ctx) != nil {
		return false
	}
	e.readings++
	klog.FromContext(ctx).V(1).Info("Everything is read once more for the aggregated script", "cause", cause.Error())
	e.renew(plan)
	return true
}

// renew begins a new aggregate, in place of the one that a plan was made with.
func (e *expressions) renew(plan *plan) {
	namesOnly := e.aggregate.NamesOnly
	e.aggregate.Close()
	e.aggregate = e.session.Aggregate(e.cleaner.Spec.ResourcePolicySet.AggregatedSelection)
	e.aggregate.NamesOnly = namesOnly
	e.memory.GiveBack(plan.collected)
	plan.marks, plan.collected, e.mask = nil, 0, nil
	for _, conditions := range e.conditions {
		if conditions != nil {
			conditions.Renew()
		}
	}
}

// chooseAgain reads everything a second time, lets the aggregated script choose once more, and leaves alone what it does not choose again.
// The lists are read one after the other: of an object of a later one, the script did not see what was created meanwhile, and uses it.
// Where all that it chose is of the first selector, the lists of all other selectors are younger, and once is enough.
func (r *Runner) chooseAgain(ctx context.Context, plan *plan) error {
	later := func(v object.Verdict) bool { return v.Selector > 0 }
	if !plan.aggregated || !slices.ContainsFunc(plan.verdicts, later) {
		return nil
	}
	plan.expressions.renew(plan) // only what was chosen is kept of the first reading
	plan.expressions.aggregate.NamesOnly = true
	in := plan.reading
	in.observer = selector.Observer{}
	now := r.read(ctx, in)
	chosen := r.pick(ctx, now)
	if now.incomplete != nil {
		plan.aggregateFault = now.aggregateFault
		return fmt.Errorf("reading everything a second time: %w", now.incomplete)
	}
	still := make(map[types.UID]bool, len(chosen))
	for _, candidate := range chosen {
		still[candidate.UID] = true
	}
	for i := range plan.verdicts {
		if verdict := &plan.verdicts[i]; !still[verdict.UID] {
			verdict.Act, verdict.Skip = false, v1alpha1.OutcomeChanged
			verdict.Reason = "when everything was read a second time, the aggregated script did not choose it any more"
		}
	}
	return nil
}
