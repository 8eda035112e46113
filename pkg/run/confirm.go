// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/recheck"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// decideAgain decides anew what was decided from many objects. counts, if any, lose what was not found again.
type decideAgain func(ctx context.Context, counts guard.Counts) (recheck.Left, error)

// uncounted is the decision without counts.
func (d decideAgain) uncounted(ctx context.Context) (recheck.Left, error) { return d(ctx, nil) }

// confirm decides a second time what was decided from many objects, after it was written down: what is not chosen again
// is left alone.
func (r *Runner) confirm(ctx context.Context, t *task, in *intent) *intent {
	if !t.acts() || t.plans() || in.left || in.fault != nil || in.stopped != nil || context.Cause(ctx) != nil ||
		!needsConfirming(t, in) {
		return in
	}
	again := *t
	again.progress, again.observer = nil, selector.Observer{}
	var scriptFault error
	decide := r.Read.findAgain(&again, t.engine.Memory, in.decision.view.findings)
	if t.engine.Aggregate() != nil {
		decide = r.chooseAgain(&again, in.decision.view, &scriptFault)
	}
	confirmed := *in
	confirmed.counts = maps.Clone(in.counts)
	left, err := decide(ctx, confirmed.counts)
	if err != nil {
		return in.unconfirmed(err, scriptFault)
	}
	confirmed.again = recheck.New(r.Begin.Clock, decide.uncounted, left)
	return confirmed.without(left)
}

// chooseAgain reads the whole view again, and lets the aggregated script choose.
func (r *Runner) chooseAgain(t *task, v *view, scriptFault *error) decideAgain {
	first := v.findings
	return func(ctx context.Context, counts guard.Counts) (recheck.Left, error) {
		t.engine.Renew(v.bytes) // only what was chosen is kept of the reading before
		now := r.Judge.choose(ctx, t, r.Read.read(ctx, t))
		if now.incomplete != nil {
			*scriptFault = now.scriptFault
			return nil, fmt.Errorf("reading everything a second time: %w", now.incomplete)
		}
		still := make(map[types.UID]bool, now.matched.Len())
		for _, verdict := range now.matched.All() {
			still[verdict.UID] = true
		}
		v = &view{bytes: now.view.bytes}
		first.Forget(counts, now.view.findings)
		return func(c stage.Candidate) string {
			if !still[c.UID] {
				return "when everything was read a second time, the aggregated script did not choose it any more"
			}
			return now.view.findings.Lost(c)
		}, nil
	}
}

// findAgain reads again what the findings need.
func (s Read) findAgain(t *task, memory *selector.Share, first *survey.Found) decideAgain {
	taken := int64(0)
	return func(ctx context.Context, counts guard.Counts) (recheck.Left, error) {
		memory.GiveBack(taken)
		before := memory.Taken()
		now, err := s.readFindings(ctx, t, memory, nil)
		taken = memory.Taken() - before
		if err != nil {
			return nil, fmt.Errorf("reading everything a second time: %w", err)
		}
		first.Forget(counts, now)
		return now.Lost, nil
	}
}

// needsConfirming reports whether anything that is to be touched, or counts as a match of an aggregated script, may
// have been used unseen.
func needsConfirming(t *task, in *intent) bool {
	d := in.decision
	var chosen []stage.Verdict
	for i, verdict := range d.matched.All() {
		switch {
		case d.acts(i, verdict) && t.cleaner.Spec.ResourcePolicySet.ResourceSelectors[verdict.Selector].Finding != nil:
			return true
		case d.acts(i, verdict) || d.rulings[i] == waits && in.counts != nil:
			verdict.Raw = nil
			chosen = append(chosen, verdict)
		}
	}
	return t.engine.Aggregate() != nil && len(chosen) > 0 && !sawAllUses(d.view.selections, chosen)
}

// sawAllUses reports whether one reading shows all that uses the chosen objects. The lists are read one after the
// other. One list is of a single moment. Of two, the second is younger than all objects of the first. Otherwise what
// uses an object may not be in any list: it was created after its own was read, or moved from a list that was not read
// yet to one that was.
func sawAllUses(selections []selector.Selection, chosen []stage.Verdict) bool {
	lists := 0
	for _, selection := range selections {
		lists += selection.Scope.Lists()
	}
	later := func(v stage.Verdict) bool { return v.Selector > 0 }
	return lists < 2 || lists == 2 && selections[0].Scope.Lists() == 1 && !slices.ContainsFunc(chosen, later)
}
