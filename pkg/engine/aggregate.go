// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"

	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Aggregate collects what the aggregated script chooses from. Nil without an aggregatedSelection.
func (e *Engine) Aggregate() *sandbox.Aggregate { return e.aggregate }

// Pick runs the aggregated script over the candidates that it was given while they were found. Its messages stand
// before the selectors'. mask hides the values of the Secrets among them.
func (e *Engine) Pick(ctx context.Context, marks []selector.Mark, mask func(string) string) (*stage.Verdicts, error) {
	chosen, before := 0, e.Memory.Taken()
	e.aggregate.Keep = func(bytes int) error { chosen++; return e.Memory.Choose(chosen, bytes) }
	for i, mark := range marks {
		if mark.Excluded {
			e.aggregate.Unchosen = append(e.aggregate.Unchosen, i)
		}
	}
	selected, err := e.aggregate.Finish(ctx)
	if err != nil {
		e.Memory.GiveBack(e.Memory.Taken() - before)
		return nil, object.MaskError(mask, "aggregatedSelection", err)
	}
	picked := &stage.Verdicts{Bodies: true}
	for _, match := range selected {
		mark := marks[match.Index]
		candidate := stage.Candidate{Object: match.Object, Selector: mark.Selector, Message: mark.Message}
		if match.Message != "" {
			candidate.Message = object.WithManager(mask(match.Message), object.ManagerIn(mark.Message))
		}
		picked.Add(stage.Verdict{Candidate: candidate, Act: true})
	}
	return picked, nil
}

// collect begins the aggregate.
func (e *Engine) collect() {
	e.aggregate = e.session.Aggregate(e.cleaner.Spec.ResourcePolicySet.AggregatedSelection)
	if e.leaveOutData {
		e.aggregate.LeaveOutData()
	}
}

// Renew makes the Engine ready to judge everything once more. It gives back the memory of what was read before. Of what
// a new aggregate chooses, only the names are wanted.
func (e *Engine) Renew(bytes int64) {
	if e.aggregate != nil {
		e.aggregate.Close()
		e.collect()
		e.aggregate.NamesOnly = true
	}
	e.Memory.GiveBack(bytes)
	for _, conditions := range e.conditions {
		if conditions != nil {
			conditions.Renew()
		}
	}
}
