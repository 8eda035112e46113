// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"iter"
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// outcomes are what became of a decision. Act makes them, and nobody changes them.
type outcomes struct {
	decision *decision
	// list is what became of each object; of a Scan, of those that are listed, and rest are the others.
	list []stage.Outcome
	rest iter.Seq[stage.Outcome]
	// plan are the objects that the run planned to touch, when a person must approve that before.
	plan []v1alpha1.ObjectOutcome
	// fault says why what was going to be touched could not be written down, and incomplete why it could not be decided a
	// second time.
	fault, incomplete error
	// stopped says why the run did not come to all that it was going to touch.
	stopped error
	// left says that another operator goes on with the run.
	left bool
	// stored are the counts that the cluster has, and ended those of them that ended since. Nil when the Cleaner keeps no
	// counts.
	stored *stored
	ended  *ended
	// ledger has what became of the victims, and must be saved before the record ends. Nil when there are none.
	ledger *journal.Ledger
}

// whyIncomplete says why the view was not complete.
func (o *outcomes) whyIncomplete() error { return errors.Join(o.decision.incomplete, o.incomplete) }

// exhausted reports whether a script used up its time or memory. One that did for an object that a run may leave alone
// is no reason to stop the schedule.
func (o *outcomes) exhausted() bool {
	of := func(o stage.Outcome) bool { return expr.Exhausted(o.Err) }
	why := o.whyIncomplete()
	return expr.Exhausted(why) || why != nil && slices.ContainsFunc(o.decision.view.notEvaluated, of) ||
		slices.ContainsFunc(o.list, of)
}

// toNotify are all outcomes, if a notification lists all, as what is written into the cluster does, and there is memory
// for them. Else nil: the record's will do.
func (o *outcomes) toNotify(t *task) []stage.Outcome {
	listsAll := func(n v1alpha1.NotificationStatus) bool { return !n.Type.NeedsSecret() }
	s := t.record.Status
	if !slices.ContainsFunc(s.Notifications, listsAll) || t.engine.Memory.Act(s.ObjectsOmitted) != nil {
		return nil
	}
	return slices.AppendSeq(slices.Clip(o.list), o.rest)
}

// none are no more outcomes.
func none(func(stage.Outcome) bool) {}

// beyond are the outcomes of a Scan that are not listed.
func (d *decision) beyond(planned v1alpha1.OutcomeResult) iter.Seq[stage.Outcome] {
	return func(yield func(stage.Outcome) bool) {
		isListed := listed(planned)
		for _, outcome := range d.outcomes(planned) {
			if !isListed(outcome) && !yield(outcome) {
				return
			}
		}
	}
}

// listed says of each outcome of a Scan in turn whether it is listed: maxListed of those that are as most are, and of
// the others, for which nobody would look among those that are only counted.
func listed(planned v1alpha1.OutcomeResult) func(stage.Outcome) bool {
	n := map[bool]int{}
	return func(outcome stage.Outcome) bool {
		n[outcome.Result == planned]++
		return n[outcome.Result == planned] <= maxListed
	}
}
