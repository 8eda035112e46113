// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/recheck"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// confirm decides a second time what was decided from many objects, after it was written down: what is not chosen again
// is left alone, and so is what would take along an object that is protected by now.
func (r *Runner) confirm(ctx context.Context, t *task, in *intent) *intent {
	if !t.acts() || t.plans() || in.left || in.fault != nil || in.stopped != nil || context.Cause(ctx) != nil {
		return in
	}
	confirmed := *in
	confirmed.ended = in.decision.ending()
	var scriptFault error
	decides, atOnce := r.decidesAgain(t, &confirmed, &scriptFault)
	if len(decides) == 0 {
		return in
	}
	decide := recheck.Join(decides...)
	if !atOnce { // the decision was made from this reading, which may be young still
		decide = recheck.After(r.Begin.Clock, takenAlong(in.decision.cascade, in.decision.cascadeRead), decide)
	}
	decided, err := decide(ctx)
	if confirmed.left = r.Act.isStopping(ctx); confirmed.left {
		return &confirmed
	}
	if err != nil {
		return confirmed.unconfirmed(err, scriptFault)
	}
	confirmed.again = recheck.New(r.Begin.Clock, decide, decided)
	return confirmed.without(decided.Left)
}

// decidesAgain decide again what was decided from many objects: at once, unless that is only what would be taken along.
func (r *Runner) decidesAgain(t *task, in *intent, scriptFault *error) (decides []recheck.Decide, atOnce bool) {
	again := *t
	again.progress, again.observer = nil, selector.Observer{}
	// What would be taken along comes first: to look for it can take long, and findings must be young.
	if cascade := in.decision.cascade; cascade.Size() > 0 && len(in.places) > 0 {
		decides = append(decides, r.Act.cascadeAgain(t, t.engine.Memory, cascade))
	}
	switch atOnce = needsConfirming(t, in); {
	case atOnce && t.engine.Aggregate() != nil:
		decides = append(decides, r.chooseAgain(&again, in.decision.view, in.decision.candidates(), in.ended, scriptFault))
	case atOnce:
		decides = append(decides, r.Read.findAgain(
			&again, t.engine.Memory, in.decision.view.findings, in.decision.candidates(), in.ended))
	}
	return decides, atOnce
}

// stillSize is about how much memory it takes to know that an object was chosen again, in bytes.
const stillSize = 100

// chooseAgain reads the whole view again, and chooses from it. ended are the counts of the candidates that this ends.
func (r *Runner) chooseAgain(
	t *task, v *view, of iter.Seq[stage.Candidate], ended *ended, scriptFault *error,
) recheck.Decide {
	first, bytes := v.findings, v.bytes-v.findings.Bytes()
	return func(ctx context.Context) (recheck.Decided, error) {
		t.engine.Renew(bytes) // only what was chosen, and the first findings, are kept of the reading before
		taken := t.engine.Memory.Taken()
		all := r.Read.read(ctx, t)
		read := r.Begin.Clock.Now()
		now := r.Judge.choose(ctx, t, all)
		full := t.engine.Memory.Take(stillSize * now.matched.Len())
		bytes = t.engine.Memory.Taken() - taken
		if incomplete := cmp.Or(now.incomplete, all.unjudgedByInputs(t.cleaner), all.clock, full); incomplete != nil {
			*scriptFault = now.scriptFault
			return recheck.Decided{}, fmt.Errorf("reading everything a second time: %w", incomplete)
		}
		still, findings := make(map[types.UID]int, now.matched.Len()), all.findings
		for _, verdict := range now.matched.All() {
			still[verdict.UID] = verdict.Selector
		}
		left := func(c stage.Candidate) string {
			switch by, matches := still[c.UID]; {
			case all.unjudgedUIDs[c.UID]:
				return "before it acted, the run read everything again, and then the object could not be judged"
			case !matches:
				return "before it acted, the run read everything again, and then the object did not match any more"
			case by != c.Selector: // which may ask for more: that the object was found for long, or is not managed
				return "before it acted, the run read everything again, and then another selector matched the object"
			}
			return findings.Lost(c, nil) // the conditions were asked again
		}
		ended.note(of, left, first, findings)
		return recheck.Decided{Left: left, Read: read}, nil
	}
}

// findAgain reads again what the findings need. ended are the counts of the candidates that this ends.
func (s Read) findAgain(
	t *task, memory *selector.Share, first *survey.Findings, of iter.Seq[stage.Candidate], ended *ended,
) recheck.Decide {
	taken := int64(0)
	return func(ctx context.Context) (recheck.Decided, error) {
		var now *survey.Findings
		err := memory.Again(&taken, func() (err error) { now, err = s.readFindings(ctx, t, memory, nil); return err })
		if err != nil {
			return recheck.Decided{}, fmt.Errorf("reading everything a second time: %w", err)
		}
		left := func(c stage.Candidate) string { return now.Lost(c, first) }
		ended.note(of, left, first, now)
		return recheck.Decided{Left: left, Read: s.Clock.Now()}, nil
	}
}

// cascadeAgain looks again for what must stay and would be deleted together with the victims: an owner does not change
// when its dependents do.
func (s Act) cascadeAgain(t *task, memory *selector.Share, first *guard.Cascade) recheck.Decide {
	taken := int64(0)
	return func(ctx context.Context) (recheck.Decided, error) {
		now := first.Anew()
		err := memory.Again(&taken, func() error { return survey.Cascade(ctx, t.who.Reader, memory, now, s.Protected) })
		return takenAlong(now, s.Clock.Now()), err
	}
}

// takenAlong leaves alone what would take a protected object along.
func takenAlong(cascade *guard.Cascade, read time.Time) recheck.Decided {
	return recheck.Decided{Left: func(c stage.Candidate) string { return cascade.Reason(c.Object) }, Read: read}
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
		if acts && byFinding || aggregated && (acts || d.rulings[i] == waits && d.counts != nil) {
			return true
		}
	}
	return false
}
