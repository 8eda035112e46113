// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// failed notes an object that could not be judged.
func (c *collector) failed(o object.Object, place int64, err error) error {
	c.failures++
	o.Raw = nil
	candidate := stage.Candidate{Object: o, Selector: c.selector.index}
	c.notEvaluated = append(c.notEvaluated, notEvaluated{place, stage.Outcome{
		Verdict: stage.Verdict{Candidate: candidate, Skip: v1alpha1.OutcomeNotEvaluated, Reason: err.Error()},
		Result:  v1alpha1.OutcomeNotEvaluated, Detail: err.Error(), Err: err,
	}})
	size := candidateSize + len(o.Name) + len(err.Error())
	if fault := c.found.share().add(int64(size)); fault != nil {
		return fmt.Errorf(
			"not enough memory for the first %d objects that could not be judged: %w; the last one was %s: %w",
			len(c.notEvaluated),
			fault,
			o,
			err,
		)
	}
	c.kept += size
	if c.failures == maxConsecutiveErrors {
		return fmt.Errorf("%d objects in a row could not be judged, the last one was %s: %w", c.failures, o, err)
	}
	return nil
}

// Unjudged says that objects could not be judged, and why the first could not. Nil if all were.
func (s Selection) Unjudged() error {
	if len(s.NotEvaluated) == 0 {
		return nil
	}
	first, objects := s.NotEvaluated[0], "objects"
	if s.Considered == 1 {
		objects = "object"
	}
	return fmt.Errorf(
		"%s (%d of %d %s could not be judged): %w",
		first.Object,
		len(s.NotEvaluated),
		s.Considered,
		objects,
		first.Err,
	)
}

// outcomes are the objects that could not be judged, in the order of the list: the script's come later than the
// conditions'.
func (c *collector) outcomes() []stage.Outcome {
	slices.SortStableFunc(c.notEvaluated, func(a, b notEvaluated) int { return cmp.Compare(a.place, b.place) })
	outcomes := make([]stage.Outcome, len(c.notEvaluated))
	for i := range c.notEvaluated {
		outcomes[i] = c.notEvaluated[i].outcome
	}
	return outcomes
}
