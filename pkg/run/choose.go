// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

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

// choose reads the view and lets the aggregated script choose. The script never sees a part of the objects only: of a
// view that is not complete, nothing is chosen.
func (r *Runner) choose(ctx context.Context, t *task) choice {
	v := r.Read.read(ctx, t)
	c := choice{view: v, matched: v.matched, incomplete: v.whyIncomplete(t.cleaner)}
	if t.expressions.aggregate == nil || c.incomplete != nil {
		return c
	}
	t.progress.Enter(metrics.StageJudge, 0)
	selector.Call(t.observer.Chooses)
	if c.matched, c.scriptFault = t.expressions.pick(ctx, v.marks); c.scriptFault != nil {
		c.matched, c.incomplete = &object.Verdicts{}, c.scriptFault
	}
	return c
}

// pick runs the aggregated script over the candidates that it was given while they were found. Its messages stand
// before the selectors'.
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
			candidate.Message = object.WithManager(e.mask(match.Message), object.ManagerIn(mark.Message))
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
