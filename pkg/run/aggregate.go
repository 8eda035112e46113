// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// aggregate makes verdicts of the candidates: the aggregated script chooses, or all are meant. The script never sees a part of
// the objects only: then nothing is chosen.
func (r *Runner) aggregate(ctx context.Context, cleaner *v1alpha1.Cleaner, expressions *expressions, plan *plan) (err error) {
	chosen := plan.candidates
	switch {
	case plan.aggregated && plan.incomplete != nil:
		chosen = nil
	case plan.aggregated:
		if chosen, err = r.pick(ctx, cleaner, expressions, plan); err != nil {
			plan.aggregateFault = err
			return err
		}
	}
	plan.candidates, plan.marks = nil, nil
	for _, candidate := range chosen {
		plan.verdicts = append(plan.verdicts, object.Verdict{Candidate: candidate, Act: true})
	}
	return nil
}

// maxAgain is how often what is lost is read once more: a process can have 64, 128 or 256 MiB.
const maxAgain = 2

// pick lets the aggregated script choose. If the objects are lost, because their process was too small, they are read once more.
func (r *Runner) pick(ctx context.Context, cleaner *v1alpha1.Cleaner, expressions *expressions, plan *plan) ([]object.Candidate, error) {
	for again := maxAgain; ; again-- {
		chosen, err := expressions.pick(ctx, plan.marks)
		if again == 0 || !lost(err) {
			return chosen, err
		}
		klog.FromContext(ctx).V(1).Info("Everything is read once more for the aggregated script", "cause", err.Error())
		expressions.startOver(plan)
		anew := r.read(ctx, cleaner, plan.who, expressions, selector.Observer{})
		anew.progress, anew.nowhere = plan.progress, plan.nowhere
		if *plan = *anew; plan.incomplete != nil {
			return nil, plan.incomplete
		}
	}
}

// lost reports whether an aggregated script can be given the objects once more.
func lost(err error) bool {
	var lost *sandbox.LostError
	return errors.As(err, &lost)
}

// chooseAgain reads everything a second time, lets the aggregated script choose once more, and leaves alone what it does not choose again.
// The lists are read one after the other: of an object of a later one, the script did not see what was created meanwhile, and uses it.
// Where all that it chose is of the first selector, the lists of all other selectors are younger, and once is enough.
func (r *Runner) chooseAgain(ctx context.Context, cleaner *v1alpha1.Cleaner, expressions *expressions, plan *plan) error {
	later := func(v object.Verdict) bool { return v.Selector > 0 }
	if !plan.aggregated || !slices.ContainsFunc(plan.verdicts, later) {
		return nil
	}
	expressions.startOver(plan)
	expressions.aggregate.NamesOnly = true
	now := r.read(ctx, cleaner, plan.who, expressions, selector.Observer{})
	if now.incomplete != nil {
		return fmt.Errorf("reading everything a second time: %w", now.incomplete)
	}
	chosen, err := r.pick(ctx, cleaner, expressions, now)
	if err != nil {
		plan.aggregateFault = err
		return err
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
