// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// maxReadingAge is how old a second decision may be when an object is touched because of it. Then everything is read again.
const maxReadingAge = time.Minute

// decideAgain decides anew what was decided from many objects: it says why a candidate is left alone, or nil. counts, if any, lose what was not
// found again.
type decideAgain func(ctx context.Context, counts guard.Counts) (func(object.Candidate) *ruling, error)

// rereading is the second decision on what a run touches, and its repetition while the run acts for long.
type rereading struct {
	decide decideAgain
	clock  clock.PassiveClock

	mu sync.RWMutex
	// left is what the latest decision leaves alone, which ended at the time; fault is why there is none.
	left  func(object.Candidate) *ruling
	ended time.Time
	fault *rereadError
}

// rereadError says that everything could not be read again: nothing more is touched.
type rereadError struct{ error }

func (e *rereadError) Unwrap() error { return e.error }

func isReread(err error) bool {
	var reread *rereadError
	return errors.As(err, &reread)
}

// enter begins to touch an object, unless a decision that is young enough leaves it alone. While everything is read again, nothing is touched.
// The caller leaves when there is neither a ruling nor an error.
func (r *rereading) enter(ctx context.Context, c object.Candidate) (leave func(), left *ruling, err error) {
	for {
		r.mu.RLock()
		switch {
		case r.fault != nil:
			err = r.fault
		case r.left == nil || r.clock.Since(r.ended) > maxReadingAge:
			r.mu.RUnlock()
			r.again(ctx)
			continue
		default:
			left = r.left(c)
		}
		if err != nil || left != nil {
			r.mu.RUnlock()
			return nil, left, err
		}
		return r.mu.RUnlock, nil, nil
	}
}

// again decides once more, unless somebody else just did.
func (r *rereading) again(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault != nil || r.left != nil && r.clock.Since(r.ended) <= maxReadingAge {
		return
	}
	left, err := r.decide(ctx, nil)
	if err != nil {
		r.fault = &rereadError{err}
		return
	}
	r.left, r.ended = left, r.clock.Now()
}

// confirm decides a second time what was decided from many objects, after it was written down: what is not chosen again is left alone.
func (r *Runner) confirm(ctx context.Context, t *task, in *intent) *intent {
	if !t.acts() || in.left || in.fault != nil || in.stopped != nil || context.Cause(ctx) != nil || !needsConfirming(t, in) {
		return in
	}
	again := *t
	again.progress, again.observer = nil, selector.Observer{}
	confirmed := *in
	confirmed.counts = maps.Clone(in.counts)
	var scriptFault error
	if t.expressions.aggregate != nil {
		confirmed.again = &rereading{decide: r.chooseAgain(&again, in.decision.view, &scriptFault), clock: r.Begin.Clock}
	} else {
		confirmed.again = &rereading{decide: r.Read.findAgain(&again, t.expressions.memory, in.decision.view.findings), clock: r.Begin.Clock}
	}
	left, err := confirmed.again.decide(ctx, confirmed.counts)
	if err != nil {
		return in.unconfirmed(err, scriptFault)
	}
	confirmed.again.left, confirmed.again.ended = left, r.Begin.Clock.Now()
	return confirmed.without(left)
}

// chooseAgain reads the whole view again, and lets the aggregated script choose.
func (r *Runner) chooseAgain(t *task, v *view, scriptFault *error) decideAgain {
	e, first := t.expressions, v.findings
	return func(ctx context.Context, counts guard.Counts) (func(object.Candidate) *ruling, error) {
		e.renew(v) // only what was chosen is kept of the reading before
		e.aggregate.NamesOnly = true
		now := r.choose(ctx, t)
		if now.incomplete != nil {
			*scriptFault = now.scriptFault
			return nil, fmt.Errorf("reading everything a second time: %w", now.incomplete)
		}
		still := make(map[types.UID]bool, now.matched.Len())
		for _, verdict := range now.matched.All() {
			still[verdict.UID] = true
		}
		v = &view{bytes: now.view.bytes}
		first.forget(counts, now.view.findings)
		return func(c object.Candidate) *ruling {
			if !still[c.UID] {
				return &ruling{result: v1alpha1.OutcomeChanged, detail: "when everything was read a second time, the aggregated script did not choose it any more"}
			}
			return now.view.findings.lost(c)
		}, nil
	}
}

// findAgain reads again what the findings need.
func (s Read) findAgain(t *task, memory *selector.Share, first *findings) decideAgain {
	taken := int64(0)
	return func(ctx context.Context, counts guard.Counts) (func(object.Candidate) *ruling, error) {
		memory.GiveBack(taken)
		before := memory.Taken()
		now, err := s.readFindings(ctx, t, memory, nil)
		taken = memory.Taken() - before
		if err != nil {
			return nil, fmt.Errorf("reading everything a second time: %w", err)
		}
		first.forget(counts, now)
		return now.lost, nil
	}
}

// lost is the ruling on a candidate that was chosen by a finding, and is not found so any more. Nil when it is, or was not chosen by one.
func (f *findings) lost(c object.Candidate) *ruling {
	if f == nil || f.selectors[c.Selector].Finding == nil {
		return nil
	}
	asked := f.selectors[c.Selector].Finding.Type
	switch found := f.of(c.Object, c.Selector); {
	case found == nil:
		return &ruling{result: v1alpha1.OutcomeChanged, detail: fmt.Sprintf("when everything was read a second time, it was not %s any more", asked)}
	case len(found.Unknown) > 0:
		detail := fmt.Sprintf("when everything was read a second time, it was not known any more whether it is %s: %s", asked, whyUnknown(found))
		return &ruling{result: v1alpha1.OutcomeChanged, detail: detail}
	}
	return nil
}

// needsConfirming reports whether anything that is to be touched, or counts as a match of an aggregated script, may have been used unseen.
func needsConfirming(t *task, in *intent) bool {
	d := in.decision
	var chosen []object.Verdict
	for i, verdict := range d.matched.All() {
		switch {
		case d.acts(i, verdict) && t.cleaner.Spec.ResourcePolicySet.ResourceSelectors[verdict.Selector].Finding != nil:
			return true
		case d.acts(i, verdict) || d.rulings[i] == waits && in.counts != nil:
			verdict.Raw = nil
			chosen = append(chosen, verdict)
		}
	}
	return t.expressions.aggregate != nil && len(chosen) > 0 && !sawAllUses(d.view.selections, chosen)
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
