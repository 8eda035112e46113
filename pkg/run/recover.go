// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/deadline"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/recheck"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
	"github.com/kubecleaner/kubecleaner/pkg/transport"
)

// lookTimeout bounds the looking at what a run that was stopped has left.
const lookTimeout = 20 * time.Second

// recover takes over a run whose operator went away while it touched objects, and brings it to its end. Of every victim
// whose outcome is not known it looks at the live object: one that is still as it was judged is dealt with now, any
// other is left alone. With a reason to close, or without the Cleaner, nothing more is touched.
func (r *Runner) recover(ctx context.Context, t *task, closing error) {
	rest := &remainder{
		cleaner: t.cleaner, notifies: t.cleaner, record: t.record,
		cause: "The operator stopped while the run was acting", closing: closing,
	}
	if err := fault.Logged(ctx, func() error { r.finish(ctx, t, rest); return nil }); err != nil {
		klog.FromContext(ctx).Error(err, "Could not end a run that was cut off; it is taken over again", "run", t.record.Name)
	}
}

// Close brings a run that was cut off, and that its Cleaner does not wait for any more, to its end without touching
// anything more.
func (r *Runner) Close(ctx context.Context, record *v1alpha1.CleanerRun) {
	ctx, cancel := deadline.Limit(transport.ForCleaner(ctx, record.Spec.Cleaner), r.Begin.Clock, deadline.Max,
		deadline.Max)
	defer cancel()
	t := &task{record: record, action: record.Spec.Action}
	if record.Status.Phase == v1alpha1.RunExecuting {
		r.recover(ctx, t, errors.New("its Cleaner was deleted, or does not wait for it any more"))
		return
	}
	r.Record.close(ctx, t, &refusal{
		phase: v1alpha1.RunInterrupted, reason: v1alpha1.ReasonFailed,
		message: "The operator stopped before the run touched anything.",
	})
}

// finish takes the run over, and brings it to its end.
func (r *Runner) finish(ctx context.Context, t *task, rest *remainder) {
	record := t.record
	log := klog.FromContext(ctx)
	if err := r.Record.Journal.TakeOver(ctx, record); err != nil {
		log.Error(err, "Could not take over a run that was cut off", "run", record.Name)
		return
	}
	log.Info("Took over a run that was cut off", "run", record.Name)
	if journal.HasFailedTooOften(record) {
		r.endAndNotify(ctx, &task{cleaner: rest.notifies, record: record}, gaveUp(record))
		return
	}
	rest.decide(ctx, r, t)
	running, stop := rest.limit(ctx, r.Begin.Clock)
	defer stop()
	who, fault := r.Check.Identities.OfRun(record.Spec.ServiceAccountRef)
	t.who = who
	memory := r.Check.Memory.Share()
	defer memory.Release()
	left, err := r.Record.resume(running, record, memory)
	if err != nil && apiserver.MayPass(err) {
		if ctx.Err() != nil { // the operator stops
			err = errors.Join(err, r.Record.Journal.NotTried(ctx, record))
		}
		log.Error(err, "Could not read what a run that was cut off was going to touch; it is resumed", "run", record.Name)
		return
	}
	if err = errors.Join(fault, err); err != nil {
		t.cleaner = rest.notifies
		r.endAndNotify(ctx, t, rest.unreadable(err))
		return
	}
	t.progress = r.Record.startProgress(running, record, metrics.StageAct, len(left.victims))
	defer t.progress.End()
	defer func() { t.engine.Close() }()
	outcomes, err := r.dealWith(running, t, left, rest, memory)
	t.progress.StopShowing()
	t.progress.Enter(metrics.StageRecord, 0)
	if !journal.IsTaken(err) {
		r.saveLostOf(ctx, rest.notifies, left, memory)
	}
	if err == nil {
		r.settle(ctx, t, rest, left.ledger, outcomes)
		return
	}
	if r.Record.outgrew(running, t, err) || r.Act.isStopping(running) {
		err = errors.Join(err, r.Record.Journal.NotTried(ctx, record))
	}
	log.Info("Left a run that was cut off to the next leader", "run", record.Name, "cause", err.Error())
}

// dealWith finds an outcome for each victim of the run. An error says that all of that is left to another attempt.
func (r *Runner) dealWith(
	ctx context.Context, t *task, left *leftover, rest *remainder, memory *selector.Share,
) ([]stage.Outcome, error) {
	if err := r.decideAgain(ctx, t, left, rest, memory); err != nil {
		return nil, err
	}
	return r.Act.goOn(ctx, t, left, rest, memory)
}

// decideAgain decides again what was decided by more than the objects: what nobody used before may be used by now. An
// error says that all of that is left to another attempt.
func (r *Runner) decideAgain(
	ctx context.Context, t *task, left *leftover, rest *remainder, memory *selector.Share,
) (err error) {
	if rest.isClosed() {
		return nil
	}
	left.ended = ending(t.cleaner)
	var decide recheck.Decide
	switch set := &t.cleaner.Spec.ResourcePolicySet; {
	case set.AggregatedSelection != "" || set.WantsInputs() || t.cleaner.JudgesFindings():
		t.engine, err = r.Check.open(ctx, t.cleaner, sandbox.Options{Memory: t.request.Memory})
		again := *t
		again.progress = nil
		decide = r.chooseAgain(&again, &view{}, left.candidates(), left.ended, new(error))
	case t.cleaner.HasFindings():
		decide = r.Read.findAgain(t, memory, nil, left.candidates(), left.ended)
	default:
		return nil
	}
	var decided recheck.Decided
	if err == nil {
		decided, err = decide(ctx)
	}
	if err == nil {
		left.decides = append(left.decides, recheck.After(r.Begin.Clock, decided, decide))
	} else if !t.mayBeginAnew(err) && !r.Act.isStopping(ctx) {
		rest.close(cmp.Or(context.Cause(ctx), err))
		err = nil
	}
	return err
}

// settle ends the record of a run that was taken over, and delivers its outcomes.
func (r *Runner) settle(
	ctx context.Context, t *task, rest *remainder, ledger *journal.Ledger, outcomes []stage.Outcome,
) {
	record := t.record
	tally := counted(record, outcomes)
	journal.Settle(record, outcomes)
	phase, reason, message := rest.conclude(outcomes)
	if r.Record.closeWith(ctx, rest.notifies, t, ledger, phase, reason, message, func() {
		r.Record.Metrics.ObjectsHandled(record, tally)
		r.Record.Metrics.ObjectsFound(record, tally)
	}) {
		t.progress.Enter(metrics.StageNotify, 0)
		r.Delivery.Notify(ctx, rest.notifies, record, outcomes)
	}
}

// goOn finds an outcome for each victim of a run that was cut off. When it is stopped nothing more is touched, but the
// rest is looked at: the operator before may have touched it. An error says that all of that is left to another
// operator.
func (s Act) goOn(ctx context.Context, t *task, left *leftover, rest *remainder,
	memory *selector.Share,
) ([]stage.Outcome, error) {
	a := &acting{
		task: t, protection: s.Protection, ledger: left.ledger, victims: left.victims, again: abandonChanged,
		looks: true, closing: rest.closing,
	}
	open := a.takeOver(left)
	if a.closing == nil {
		// The operator may have been started anew with a lower limit just to stop this run.
		rest.closing = guard.MaxActions(s.MaxActions, len(open))
	}
	if rest.closing == nil {
		var err error
		if a.guards, err = s.guardsOf(ctx, t, open, memory); err != nil {
			rest.closing, rest.faulty = err, true
		} else if a.guards.cascade.Size() > 0 {
			// It comes first: to look for it can take long, and findings must be young.
			left.decides = slices.Insert(left.decides, 0, s.cascadeAgain(t, memory, a.guards.cascade))
		}
	}
	if len(left.decides) > 0 {
		a.reread = recheck.New(s.Clock, recheck.Join(left.decides...), recheck.Decided{})
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
	case journal.IsTaken(cause):
		return nil, cause
	case errors.Is(cause, s.Stopping), t.mayBeginAnew(cause):
		left.ledger.FlushPatiently(ctx)
		return nil, cause
	}
	rest.close(cause)
	a.closing = rest.closing
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	if err := a.all(looking); journal.IsTaken(err) {
		return nil, err
	}
	a.abandon(ctx, left.ledger)
	return a.outcomes, nil
}

// takeOver takes what the run before found out, and returns the victims of which nothing is known yet.
func (a *acting) takeOver(left *leftover) (open []journal.Victim) {
	for i := range left.victims {
		a.outcomes = append(a.outcomes, left.outcome(i))
		if a.outcomes[i].Result == v1alpha1.OutcomePlanned {
			open = append(open, left.victims[i])
		}
	}
	return open
}

// abandon ends the victims of which still nothing is known.
func (a *acting) abandon(ctx context.Context, ledger *journal.Ledger) {
	for i := range a.outcomes {
		if o := &a.outcomes[i]; o.Result == v1alpha1.OutcomePlanned {
			o.Result, o.Detail = v1alpha1.OutcomeAbandoned, "the run was stopped, and the operator could not find out what happened to this object"
			_ = fault.Logged(ctx, func() error { return ledger.Record(context.WithoutCancel(ctx), i, *o) })
		}
	}
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
	if g.namespaces, err = namespacesOf(ctx, s.Operator, namespacesIn(victims)); err != nil ||
		t.action != v1alpha1.ActionDelete {
		return g, err
	}
	for _, victim := range victims {
		g.cascade.Add(victim.Object, t.cleaner.Spec.DeleteOptions)
	}
	return g, survey.Cascade(ctx, t.who.Reader, memory, g.cascade, s.Protected)
}
