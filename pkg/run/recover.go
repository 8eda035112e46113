// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/transport"
)

// lookTimeout bounds the looking at what a run that was stopped has left.
const lookTimeout = 20 * time.Second

// remainder is what is left of a run that was cut off.
type remainder struct {
	record *v1alpha1.CleanerRun
	// cleaner is the run's, nil when it is gone or does not wait for the run any more; tells is the one by whose notifications the end is
	// told, nil when it is gone.
	cleaner, tells *v1alpha1.Cleaner
	// cause is the beginning of a sentence: why the run was cut off.
	cause string
	// failed is true when it was by a fault of the operator's.
	failed bool
	// closing says why nothing more is touched. Nil when the run goes on.
	closing error
	// faulty is true when that is a fault, and late is set when it is because the run took too long.
	faulty bool
	late   *deadlineError
}

// Recover takes over a run whose operator went away while it touched objects, and brings it to its end. Of every victim whose
// outcome is not known it looks at the live object: one that is still as it was judged is dealt with now, any other is left alone. With a
// reason to close, or without the Cleaner, nothing more is touched.
func (r *Runner) Recover(ctx context.Context, record *v1alpha1.CleanerRun, cleaner *v1alpha1.Cleaner, closing error) {
	rest := &remainder{cleaner: cleaner, tells: cleaner, record: record, cause: "The operator went away while the run was acting", closing: closing}
	if err := fault.Logged(ctx, func() error { r.finish(ctx, rest); return nil }); err != nil { // it is taken over again
		klog.FromContext(ctx).Error(err, "Could not bring a run to its end that was cut off", "run", record.Name)
	}
}

// Close brings a run that was cut off, and that its Cleaner does not wait for any more, to its end without touching anything more.
func (r *Runner) Close(ctx context.Context, record *v1alpha1.CleanerRun) {
	ctx, cancel := limit(transport.ForCleaner(ctx, record.Spec.Cleaner), r.Begin.Clock, MaxDuration, &deadlineError{MaxDuration})
	defer cancel()
	if record.Status.Phase == v1alpha1.RunExecuting {
		r.Recover(ctx, record, nil, errors.New("its Cleaner was deleted, or does not wait for it any more"))
		return
	}
	r.Record.close(ctx, &task{record: record, asked: ctx}, &refusal{phase: v1alpha1.RunInterrupted, reason: v1alpha1.ReasonFailed, message: "The operator went away before the run touched anything."})
}

// finish takes the run over, and brings it to its end.
func (r *Runner) finish(ctx context.Context, rest *remainder) {
	record := rest.record
	log := klog.FromContext(ctx)
	if err := r.Record.Journal.TakeOver(ctx, record); err != nil {
		log.Error(err, "Could not take over a run that was cut off", "run", record.Name)
		return
	}
	log.Info("Took over a run that was cut off", "run", record.Name)
	t := &task{cleaner: rest.cleaner, record: record, asked: ctx, action: record.Spec.Action}
	if journal.HasFailedTooOften(record) {
		r.endAndTell(ctx, &task{cleaner: rest.tells, record: record, asked: ctx}, gaveUp(record))
		return
	}
	rest.decide(ctx, r, t)
	ctx, stop := rest.limit(ctx, r.Begin.Clock)
	defer stop()
	who, fault := r.Check.Identities.ofRun(record.Spec.ServiceAccountRef)
	t.who = who
	memory := r.Check.Memory.Share()
	defer memory.Release()
	left, err := r.Record.resume(ctx, record, memory)
	if err != nil && mayPass(err) {
		log.Error(err, "Could not read what a run that was cut off was going to touch; it is taken up again", "run", record.Name)
		return
	}
	if err = errors.Join(fault, err); err != nil {
		t.cleaner = rest.tells
		r.endAndTell(ctx, t, &refusal{phase: v1alpha1.RunInterrupted, reason: v1alpha1.ReasonFailed, message: v1alpha1.Truncate(fmt.Sprintf(
			"%s, and what it was going to touch cannot be read: %s. The objects listed as %s may have been dealt with or not.",
			rest.cause, oneLine(err), v1alpha1.OutcomePlanned), maxMessage)})
		return
	}
	t.progress = r.Record.startProgress(ctx, record, metrics.StageAct, len(left.victims))
	defer t.progress.end()
	if t.cleaner != nil && t.cleaner.HasFindings() { // what was found before may be used by now
		left.again = &rereading{decide: r.Read.findAgain(t, memory, nil), clock: r.Begin.Clock}
	}
	outcomes, err := r.Act.goOn(ctx, t, left, rest, memory)
	t.progress.stopWriting()
	t.progress.enter(metrics.StageRecord, 0)
	if err != nil {
		log.Info("Left a run that was cut off to the next leader", "run", record.Name, "cause", err.Error())
		return
	}
	flush(ctx, left.ledger)
	tally := counted(record, outcomes)
	journal.Settle(record, outcomes)
	phase, reason, message := rest.conclude(outcomes)
	if r.Record.closeWith(ctx, rest.tells, t, phase, reason, message, func() {
		r.Record.Metrics.ObjectsHandled(record, tally)
		r.Record.Metrics.ObjectsFound(record, tally)
	}) {
		t.progress.enter(metrics.StageTell, 0)
		r.Delivery.Tell(ctx, rest.tells, record, outcomes)
	}
}

// decide says why the run is not gone on with, if it is not.
func (m *remainder) decide(ctx context.Context, r *Runner, t *task) {
	if m.cleaner == nil || m.closing != nil {
		return
	}
	clock := r.Read.clockFault() // by a wrong clock, nobody knows whether it is too late
	wrong := ""
	if clock != nil {
		wrong = clock.Error()
	}
	if why := cmp.Or(r.Check.Identities.lacks(t.record.Spec.ServiceAccountRef), wrong, tooLate(m.cleaner, t.record, r.Begin.Clock.Now())); why != "" {
		m.closing = errors.New(why)
		return
	}
	m.closing = r.Act.Stop.Confirm(ctx)
	m.faulty = m.closing != nil && !isStop(m.closing)
}

// goOn finds an outcome for each victim of a run that was cut off. When it is stopped nothing more is touched, but the rest is looked at:
// the operator before may have touched it. An error says that all of that is left to another operator.
func (s Act) goOn(ctx context.Context, t *task, left *leftover, rest *remainder, memory *selector.Share) ([]object.Outcome, error) {
	a := &acting{task: t, protection: s.Protection, ledger: left.ledger, victims: left.victims, again: abandonChanged, reread: left.again, looks: true, closing: rest.closing}
	var open []journal.Victim
	for i := range left.victims {
		a.outcomes = append(a.outcomes, left.outcome(i))
		if a.outcomes[i].Result == v1alpha1.OutcomePlanned {
			open = append(open, left.victims[i])
		}
	}
	if a.closing == nil {
		// The operator may have been started anew with a lower limit just to stop this run.
		rest.closing = guard.MaxActions(s.MaxActions, len(open))
	}
	if rest.closing == nil {
		var err error
		if a.guards, err = s.guardsOf(ctx, t, open, memory); err != nil {
			rest.closing, rest.faulty = err, true
		}
	}
	a.closing = rest.closing
	on, end := ctx, func() {}
	if a.closing == nil { // else it only looks
		on, end = s.Stop.WhileActing(ctx)
	}
	cause := a.all(on)
	end()
	switch {
	case cause == nil:
		return a.outcomes, nil
	case isTaken(cause):
		return nil, cause
	case errors.Is(cause, s.Stopping):
		flush(ctx, left.ledger)
		return nil, cause
	}
	rest.close(cause)
	a.closing = rest.closing
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	if err := a.all(looking); isTaken(err) {
		return nil, err
	}
	for i := range a.outcomes {
		if o := &a.outcomes[i]; o.Result == v1alpha1.OutcomePlanned {
			o.Result, o.Detail = v1alpha1.OutcomeAbandoned, "the run was stopped, and it could not be found out what became of it"
			_ = fault.Logged(ctx, func() error { return left.ledger.Record(context.WithoutCancel(ctx), i, *o) })
		}
	}
	return a.outcomes, nil
}

// guardsOf are the guards of a run that is taken over.
func (s Act) guardsOf(ctx context.Context, t *task, victims []journal.Victim, memory *selector.Share) (guards, error) {
	g := guards{action: t.action, cascade: &guard.Cascade{}}
	for i, spec := range t.cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		sel, err := selector.New(i, spec, selector.Judge{}, t.now)
		if err != nil {
			return guards{}, err
		}
		g.selectors = append(g.selectors, sel)
	}
	var err error
	if g.namespaces, err = namespacesOf(ctx, s.Operator, namespacesIn(victims)); err != nil || t.action != v1alpha1.ActionDelete {
		return g, err
	}
	for _, victim := range victims {
		g.cascade.Add(victim.Object, t.cleaner.Spec.DeleteOptions)
	}
	return g, readCascade(ctx, t.who.reader, memory, g.cascade)
}

// limit ends a context when the run's time is over. When it is over already, nothing more is touched; looking may take its time.
func (m *remainder) limit(ctx context.Context, clk clock.WithDelayedExecution) (context.Context, context.CancelFunc) {
	if m.cleaner == nil || m.closing != nil {
		return context.WithCancel(ctx)
	}
	if timeLeft(m.cleaner, m.record, clk.Now()) <= 0 {
		m.close(&deadlineError{deadlineOf(m.cleaner)})
		return context.WithCancel(ctx)
	}
	return limitRun(ctx, clk, m.cleaner, m.record)
}

// close makes the rest be looked at only.
func (m *remainder) close(cause error) {
	m.closing, m.faulty = cause, false
	errors.As(cause, &m.late)
}

func (m *remainder) stopReason() string {
	return stopReason(m.closing)
}

// gaveUp is how a run ends that was attempted too often. What it was going to touch is not read: that may be what ends the operator.
func gaveUp(record *v1alpha1.CleanerRun) *refusal {
	touched := "Nothing was touched."
	if record.Status.Phase == v1alpha1.RunExecuting {
		touched = fmt.Sprintf("The objects listed as %s may have been dealt with or not.", v1alpha1.OutcomePlanned)
	}
	return &refusal{phase: v1alpha1.RunFailed, reason: v1alpha1.ReasonFailed, message: fmt.Sprintf(
		"The operator went away in each of %d attempts, in which the run did not get on: it may be the run that takes too much memory (see the last state of the operator's Pod). It is not attempted again. %s",
		journal.MaxAttempts, touched)}
}

// mayPass reports whether an error says something of the API server, or of the way to it, and nothing of what was asked for.
func mayPass(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code := status.Status().Code
		return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
	}
	var way *url.Error
	return errors.As(err, &way) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// conclude says how the run ended.
func (m *remainder) conclude(outcomes []object.Outcome) (v1alpha1.RunPhase, string, string) {
	what := "and the run was gone on with"
	abandoned := slices.ContainsFunc(outcomes, func(o object.Outcome) bool { return o.Result == v1alpha1.OutcomeAbandoned })
	switch {
	case m.closing == nil:
	case m.faulty:
		what = "and the run could not be gone on with: " + oneLine(m.closing)
	case !abandoned && !m.failed:
		what = "when it had dealt with everything"
	default:
		what = "and the run was not gone on with: " + m.closing.Error()
	}
	if m.late != nil && abandoned {
		what += "; " + m.late.wayOut(selectLess)
	}
	message := fmt.Sprintf("%s, %s. %s", m.cause, what, touchedWords(m.record, outcomes, unjudgedIn(m.record)))
	phase, reason := m.endsAs()
	if m.failed {
		return v1alpha1.RunFailed, v1alpha1.ReasonFailed, v1alpha1.Truncate(message, maxMessage)
	}
	for i := range outcomes {
		switch {
		case outcomes[i].Result.IsFailure():
			phase, reason = v1alpha1.RunFailed, reasonOf(outcomes[i], v1alpha1.ReasonPartiallyFailed)
			message += fmt.Sprintf(" The first failure was on %s: %s", outcomes[i].Object, outcomes[i].Detail)
			return phase, reason, v1alpha1.Truncate(message, maxMessage)
		case outcomes[i].Detail == changedAway: // left alone as in any run
		case outcomes[i].Result == v1alpha1.OutcomeAbandoned, outcomes[i].Result == v1alpha1.OutcomeInterrupted:
			phase = v1alpha1.RunInterrupted
			if reason != v1alpha1.ReasonForbidden {
				reason = reasonFor(outcomes[i].Err, m.stopReason())
			}
		}
	}
	return phase, reason, v1alpha1.Truncate(message, maxMessage)
}

// endsAs is how the run ends if it did not fail, and nothing is left undone.
func (m *remainder) endsAs() (v1alpha1.RunPhase, string) {
	if m.record.Status.Failed > 0 { // some of it maybe before the run was cut off
		return v1alpha1.RunFailed, v1alpha1.ReasonPartiallyFailed
	}
	return v1alpha1.RunCompleted, v1alpha1.ReasonCompleted
}

// unjudgedIn is how many objects could not be judged, by the record of a run.
func unjudgedIn(record *v1alpha1.CleanerRun) (n int64) {
	for _, tally := range journal.Tallies(record) {
		if tally.Outcome == v1alpha1.OutcomeNotEvaluated {
			n += tally.Count
		}
	}
	return n
}
