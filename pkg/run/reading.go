// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// reading is what it takes to read all that a Cleaner selects.
type reading struct {
	cleaner *v1alpha1.Cleaner
	// who reads, and later acts.
	who identity
	// expressions are what objects are judged and changed with.
	expressions *expressions
	// observer is told how it goes.
	observer selector.Observer
	// acts says that something is to be touched; preview, that a user looks, who need not have the rights that the operator has.
	acts, preview bool
}

// read is stage 1: one list per selector, each object judged as it passes.
func (r *Runner) read(ctx context.Context, in reading) *plan {
	in.expressions.readings = 1
	return r.readLost(ctx, in)
}

// readLost is read, as long as startOver lets it.
func (r *Runner) readLost(ctx context.Context, in reading) *plan {
	plan := r.readOnce(ctx, in)
	for plan.lost != nil && in.expressions.startOver(ctx, plan, plan.lost) {
		selector.Tell(in.observer.Again)
		plan = r.readOnce(ctx, in)
	}
	return plan
}

// readOnce is read without starting over.
func (r *Runner) readOnce(ctx context.Context, in reading) *plan {
	e := in.expressions
	plan := &plan{reading: in, aggregated: e.aggregate != nil, clock: r.clockFault()}
	if plan.aggregated {
		if plan.incomplete = e.aggregate.Ready(ctx); plan.incomplete != nil {
			return plan
		}
	}
	found := selector.Found{Whole: e.changesManagedFields(), Aggregate: e.aggregate, Observer: in.observer, Memory: e.memory}
	if e.keepNames {
		plan.scan = &scan{matches: &found.Verdicts}
		found.Judge = func(candidate object.Candidate) object.Verdict { return r.judgeFound(plan.scan, candidate) }
	}
	taken := e.memory.Taken()
	plan.incomplete = r.readSelectors(ctx, plan, &found)
	plan.collected = e.memory.Taken() - taken
	plan.candidates, plan.marks = found.Candidates, found.Marks
	e.mask = object.Masker(found.Secrets...)
	if plan.lost == nil {
		fault := r.lookForNowhere(ctx, plan)
		if !in.preview || !forbidden(fault) {
			plan.incomplete = errors.Join(plan.incomplete, fault)
		}
	}
	return plan
}

// readSelectors reads one list per selector. If all that is wrong is that the aggregated script's objects are lost, the rest is not read.
func (r *Runner) readSelectors(ctx context.Context, plan *plan, found *selector.Found) error {
	var errs []error
	for i, spec := range plan.cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		s, err := selector.New(i, spec, plan.expressions.judge(i, r.Queries), r.Clock.Now())
		var selection selector.Selection
		if err == nil {
			selection = s.Select(ctx, plan.who.reader, found)
			err = selection.Err
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("resourceSelectors[%d]: %w", i, err))
		}
		plan.selectors = append(plan.selectors, s)
		plan.selections = append(plan.selections, selection)
		plan.considered += selection.Considered
		plan.notEvaluated = append(plan.notEvaluated, selection.NotEvaluated...)
		if isLost(err) && len(errs) == 1 && len(plan.notEvaluated) == 0 {
			plan.lost = err
			break
		}
	}
	return errors.Join(errs...)
}

// isLost reports whether an aggregated script can be given the objects once more.
func isLost(err error) bool {
	var lost *sandbox.LostError
	return errors.As(err, &lost)
}
