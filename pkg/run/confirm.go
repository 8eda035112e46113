// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"maps"

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
	if confirmed.left = r.Act.isStopping(ctx); confirmed.left {
		return &confirmed
	}
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
func (s Read) findAgain(t *task, memory *selector.Share, first *survey.Findings) decideAgain {
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

// needsConfirming reports whether a finding or an aggregated script chose something that is to be touched, or an
// aggregated script something that counts as a match. What uses it may have been created, or changed, after its own
// list was read, however few lists there are.
func needsConfirming(t *task, in *intent) bool {
	d := in.decision
	aggregated := t.engine.Aggregate() != nil
	for i, verdict := range d.matched.All() {
		acts := d.acts(i, verdict)
		byFinding := t.cleaner.Spec.ResourcePolicySet.ResourceSelectors[verdict.Selector].Finding != nil
		if acts && byFinding || aggregated && (acts || d.rulings[i] == waits && in.counts != nil) {
			return true
		}
	}
	return false
}
