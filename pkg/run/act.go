// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// parallel is how many objects a run acts on at once.
const parallel = 16

// act is stages 3 and 4: it writes down what is going to be touched, with copies, and touches it. It returns an outcome for each
// verdict, and the cause when nothing was touched because that could not be written down. With ErrTaken, what became of the rest is
// another operator's to find out.
func (r *Runner) act(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, expressions *expressions, plan *plan) ([]object.Outcome, error) {
	var unsaved error
	if plan.counts != nil && plan.incomplete == nil {
		unsaved = r.Journal.SaveCounts(ctx, cleaner, plan.counts, record.Name)
	}
	if record.Spec.Action == v1alpha1.ActionScan {
		return found(ctx, record, plan), unsaved
	}
	outcomes := planned(plan)
	if unsaved != nil {
		return notActed(outcomes), unsaved
	}
	intended := r.intend(ctx, record, expressions, outcomes)
	if stopped := context.Cause(ctx); len(intended.victims) == 0 || stopped != nil {
		return untouched(outcomes, stopped), nil
	}
	if r.tooMany(plan, intended.victims) {
		return notActed(outcomes), nil
	}
	plan.progress.enter(metrics.StageRecord, len(intended.victims))
	ledger, err := r.Journal.Intend(ctx, cleaner, record, plan.considered, outcomes, intended.victims)
	switch {
	case err != nil && ledger != nil:
		return r.settleLedger(ctx, ledger, intended, notActed(outcomes)), err
	case err != nil:
		return notActed(outcomes), err
	}
	if err := r.protect(ctx, plan); err != nil { // once more, after the intent
		return r.settleLedger(ctx, ledger, intended, notActed(outcomes)), err
	}
	plan.progress.enter(metrics.StageAct, len(intended.victims))
	all := &one{runner: r, cleaner: cleaner, record: record, expressions: expressions, plan: plan, ledger: ledger}
	plan.stopped = all.act(ctx, intended, outcomes)
	if errors.Is(plan.stopped, journal.ErrTaken) {
		return outcomes, plan.stopped
	}
	return r.settleLedger(ctx, ledger, intended, untouched(outcomes, plan.stopped)), nil
}

// act deals with each victim, and returns why it did not come to all.
func (o *one) act(ctx context.Context, intended intended, outcomes []object.Outcome) error {
	acting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	workqueue.ParallelizeUntil(acting, parallel, len(intended.victims), func(i int) {
		n, one := intended.places[i], *o
		one.victim = intended.victims[i]
		outcomes[n] = one.actOn(acting, o.plan.verdicts[n])
		err := outcomes[n].Err
		if outcomes[n].Result != v1alpha1.OutcomePlanned {
			o.plan.progress.did()
			err = guarded(acting, func() error { return o.ledger.Record(acting, i, outcomes[n]) })
		}
		if errors.Is(err, journal.ErrTaken) || errors.Is(err, journal.ErrGone) {
			stop(err)
		}
	})
	return context.Cause(acting)
}

// intended are the verdicts that are going to be carried out: each victim, and its place among the verdicts.
type intended struct {
	victims []journal.Victim
	places  []int
}

// intend finds out what is to be sent. Objects that a Transform would leave as they are, or cannot change, have their outcome then.
func (r *Runner) intend(ctx context.Context, record *v1alpha1.CleanerRun, expressions *expressions, outcomes []object.Outcome) intended {
	options := expressions.cleaner.Spec.TransformOptions
	var result intended
	for i := range outcomes {
		outcome := &outcomes[i]
		if !outcome.Act || context.Cause(ctx) != nil {
			continue
		}
		victim := journal.Victim{Candidate: outcome.Candidate}
		if record.Spec.Action == v1alpha1.ActionTransform {
			patch, err := expressions.change(ctx, outcome.Object)
			outcome.Message = cmp.Or(expressions.messageOf(outcome.Object), outcome.Message)
			victim.Message = outcome.Message
			switch stopped := context.Cause(ctx); {
			case err != nil && stopped != nil && errors.Is(err, stopped):
				continue
			case err != nil:
				*outcome = action.Failed(outcome.Verdict, err)
				klog.FromContext(ctx).Error(errors.New(outcome.Detail), "Could not act on resource", "action", record.Spec.Action, "kind", outcome.Kind.Kind, "object", objectName(outcome.Object))
				continue
			case len(patch) == 0:
				outcome.Result, outcome.Detail = v1alpha1.OutcomeUnchanged, "there is nothing to change"
				continue
			}
			if reason := guard.Consent(outcome.Kind, patch, options); reason != "" {
				outcome.Result, outcome.Detail = v1alpha1.OutcomeProtected, reason
				continue
			}
			victim.Patch = patch
		}
		result.victims = append(result.victims, victim)
		result.places = append(result.places, i)
	}
	return result
}

// tooMany reports whether the run would act on more objects than the operator lets any run.
func (r *Runner) tooMany(plan *plan, victims []journal.Victim) bool {
	plan.limit = guard.MaxActions(r.MaxActions, len(victims))
	return plan.limit != nil
}

// settleLedger saves what became of every victim.
func (r *Runner) settleLedger(ctx context.Context, ledger *journal.Ledger, intended intended, outcomes []object.Outcome) []object.Outcome {
	for i, n := range intended.places {
		_ = guarded(ctx, func() error { return ledger.Record(context.WithoutCancel(ctx), i, outcomes[n]) })
	}
	r.flush(ctx, ledger)
	return outcomes
}

// planned are the outcomes so far: what is left alone, and what is still to be touched.
func planned(plan *plan) []object.Outcome {
	outcomes := make([]object.Outcome, len(plan.verdicts))
	for i, verdict := range plan.verdicts {
		outcomes[i] = object.Outcome{Verdict: verdict, Result: v1alpha1.OutcomePlanned}
		if !verdict.Act {
			outcomes[i].Result, outcomes[i].Detail = verdict.Skip, verdict.Reason
		}
	}
	return outcomes
}

// found are the outcomes of a Scan.
func found(ctx context.Context, record *v1alpha1.CleanerRun, plan *plan) []object.Outcome {
	if plan.scan != nil {
		return plan.scan.first(ctx, record)
	}
	outcomes := make([]object.Outcome, len(plan.verdicts))
	for i, verdict := range plan.verdicts {
		if outcomes[i] = scanned(record, verdict); verdict.Act {
			logMatch(klog.FromContext(ctx), verdict.Candidate)
		}
	}
	return outcomes
}

// scanned is what becomes of an object that a Scan found.
func scanned(record *v1alpha1.CleanerRun, verdict object.Verdict) object.Outcome {
	switch {
	case !verdict.Act:
		return object.Outcome{Verdict: verdict, Result: verdict.Skip, Detail: verdict.Reason}
	case record.Spec.DryRun:
		return object.Outcome{Verdict: verdict, Result: v1alpha1.OutcomeDryRun}
	}
	return object.Outcome{Verdict: verdict, Result: v1alpha1.OutcomeMatched}
}

// logMatch writes the line that k8s-cleaner documents for dry runs.
func logMatch(log klog.Logger, o object.Candidate) {
	log.Info("resource is a match for cleaner", "kind", o.Kind.Kind, "object", objectName(o.Object), "message", o.Message)
}

// notActed says of all that was going to be touched that it was not, because of what the run's message says.
func notActed(outcomes []object.Outcome) []object.Outcome {
	for i := range outcomes {
		if outcomes[i].Result == v1alpha1.OutcomePlanned {
			outcomes[i].Result, outcomes[i].Detail = v1alpha1.OutcomeNotActed, "nothing was touched in this run; its message says why"
		}
	}
	return outcomes
}

// untouched gives every object that the run did not come to the reason why.
func untouched(outcomes []object.Outcome, cause error) []object.Outcome {
	for i := range outcomes {
		if outcomes[i].Result == v1alpha1.OutcomePlanned {
			outcomes[i].Result = v1alpha1.OutcomeInterrupted
			outcomes[i].Detail = "the run was stopped before it came to this object"
			if cause != nil {
				outcomes[i].Detail += ": " + cause.Error()
			}
		}
	}
	return outcomes
}
