// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"iter"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// decision is what a run is going to do with each object that matches, and why it leaves others alone. Judge makes it,
// and nobody changes it.
type decision struct {
	choice
	// rulings are what was decided on each object that matches: nil is to act, if its verdict says so too.
	rulings []*ruling
	// changes are what a Transform sends, by place among the objects that match.
	changes map[int]change
	// waiting is how many objects match, but not yet in enough consecutive runs.
	waiting int
	// counts are what to save of in how many runs each object has matched. Nil when there is nothing to save.
	counts guard.Counts
	// limit says which limit is exceeded: then nothing is touched.
	limit error
	// missing is what is in the plan that the run carries out, and does not match any more, if the view is complete.
	missing []v1alpha1.ObjectOutcome
}

// ruling is why an object is not acted on or, without a result, what is to be noted of it.
type ruling struct {
	result v1alpha1.OutcomeResult
	detail string
	err    error
	// noMatch says that the object is no match, and has no outcome as one.
	noMatch bool
}

var (
	// waits is the ruling on an object that has not matched in enough consecutive runs: it is no match yet.
	waits = &ruling{noMatch: true}
	// unjudged is the ruling on an object that matches one selector, and that another could not judge. The view has its
	// outcome.
	unjudged = &ruling{noMatch: true}
)

// change is what a Transform does to an object, and what its script said.
type change struct {
	patch   object.JSON
	message string
}

// acts reports whether the i-th object, whose verdict is given, is to be acted on.
func (d *decision) acts(i int, verdict stage.Verdict) bool {
	r := d.rulings[i]
	return verdict.Act && (r == nil || !r.noMatch && r.result == "")
}

// candidates are the objects that match.
func (d *decision) candidates() iter.Seq[stage.Candidate] {
	return func(yield func(stage.Candidate) bool) {
		for _, verdict := range d.matched.All() {
			if !yield(verdict.Candidate) {
				return
			}
		}
	}
}

// rule decides on the objects that are still to be acted on. A nil ruling leaves it at that.
func (d *decision) rule(on func(i int, verdict stage.Verdict) *ruling) {
	for i, verdict := range d.matched.All() {
		if d.acts(i, verdict) {
			if r := on(i, verdict); r != nil {
				d.rulings[i] = r
			}
		}
	}
}

// acting is how many objects are to be acted on.
func (d *decision) acting() (n int64) {
	for i, verdict := range d.matched.All() {
		if d.acts(i, verdict) {
			n++
		}
	}
	return n
}

// outcomes are what is decided of each object that matches, with its place: planned is the result of those that are to
// be acted on.
func (d *decision) outcomes(planned v1alpha1.OutcomeResult) iter.Seq2[int, stage.Outcome] {
	return func(yield func(int, stage.Outcome) bool) {
		for i, verdict := range d.matched.All() {
			outcome := stage.Outcome{Verdict: verdict, Result: planned}
			switch r := d.rulings[i]; {
			case r != nil && r.noMatch:
				continue
			case r != nil && r.result == "":
				outcome.Detail = r.detail
			case r != nil:
				outcome.Act, outcome.Skip, outcome.Reason = false, r.result, r.detail
				outcome.Result, outcome.Detail, outcome.Err = r.result, r.detail, r.err
			case !verdict.Act:
				outcome.Result, outcome.Detail = verdict.Skip, verdict.Reason
			default:
				outcome.Detail = verdict.Reason // what a Scan notes
			}
			if said := d.changes[i].message; said != "" {
				outcome.Message = object.WithManager(said, object.ManagerIn(outcome.Message))
			}
			if !yield(i, outcome) {
				return
			}
		}
	}
}
