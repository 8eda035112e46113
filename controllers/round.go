// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
	"github.com/kubecleaner/kubecleaner/pkg/schedule"
)

// round is what one Reconcile found out, for after the status is written.
type round struct {
	// memory is what is remembered of the Cleaner.
	memory *memory
	// edited is true when the spec was edited since it was looked at last.
	edited bool
	// ended is the run that ended since the last round.
	ended *v1alpha1.CleanerRun
	// repeated is true when that run found nothing, as the run before it.
	repeated bool
	// attempt is the result that was folded in. Nil when there was none.
	attempt *executor.Request
	// unrecorded says why a run could not begin, and is tried again. Empty when that did not happen.
	unrecorded string
	// delivery is the news of delivered notifications that the status has now. Nil when there were none.
	delivery *change
	// approved is the plan that a person approved and that is to be carried out. Nil when there is none. planEnds is after
	// how long the one that waits expires. Zero when none does.
	approved *v1alpha1.ApprovedPlan
	planEnds time.Duration
	// decided is the reason for which the plan does not wait any more since a person said something of it, and decidedWhy
	// who said what. Empty when nobody did.
	decided, decidedWhy string
	// soon asks for another look although nothing may happen.
	soon bool
	// lost says that the Cleaner lost fields without an edit. Empty when it did not.
	lost string
	// foreign says which other controller may act on the same objects. Empty when there is none.
	foreign string
	// unchecked is true when the cluster could not be asked for the Cleaner's kinds: that is tried again soon.
	unchecked bool
	// missed says which runs will not take place, and misses are the same for metrics.
	missed string
	misses []schedule.Decision
	// submit is the run to start, and starts its trigger. Empty when there is none, or when it is one that is taken up
	// again.
	submit *executor.Request
	starts v1alpha1.RunTrigger
	// sleep is after how long to look again. Zero means not before something happens.
	sleep time.Duration
}

// begin is a round of what is known of the Cleaner.
func (r *CleanerReconciler) begin(cleaner *v1alpha1.Cleaner) *round {
	round := &round{memory: r.memoryOf(cleaner.Name)}
	if round.memory.uid != cleaner.UID {
		round.memory.ofCleaner = ofCleaner{uid: cleaner.UID}
		round.memory.doubtDelivery(cleaner)
	}
	round.delivery = round.memory.delivery.Load() // before the record is read: newer news is for the next round
	if unshown := round.memory.unshown; unshown != nil {
		observed := cleaner.Status.ObservedSpec // the API server may have dropped it since
		cleaner.Status = *unshown.DeepCopy()
		cleaner.Status.ObservedSpec = observed
	}
	round.edited = wasEdited(cleaner)
	round.foreign = cleaner.ForeignController(r.Clock.Now())
	return round
}

// wasEdited reports whether the spec was edited since it was looked at last. The generation alone does not show it: the
// observed one stays behind while the cluster cannot be asked for the Cleaner's kinds.
func wasEdited(cleaner *v1alpha1.Cleaner) bool {
	return cleaner.Status.ObservedGeneration != cleaner.Generation &&
		cleaner.Status.ObservedSpec != v1alpha1.Stamp(cleaner.Generation, cleaner.Spec.Hash())
}

// plan is the schedule by which the Cleaner runs. Nil when it cannot run.
func (r *CleanerReconciler) plan(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	round *round,
) (*schedule.Schedule, error) {
	if round.edited && round.lost == "" {
		cleaner.Status.ExhaustedRuns = 0 // of scripts that may be gone
	}
	switch {
	case round.lost != "":
		refuse(cleaner, v1alpha1.ReasonCRDOutdated, round.lost)
		round.sleep = outdatedDelay
	case round.foreign != "":
		r.holdBack(cleaner, round)
	default:
		plan, err := r.assess(ctx, cleaner, round)
		if plan != nil || err != nil {
			return plan, err
		}
	}
	r.lookAgain(r.acting.keep(cleaner, false)) // one that can run is kept in assess
	return nil, nil
}

// round computes the Cleaner's status, in memory, and what is to be done.
func (r *CleanerReconciler) round(ctx context.Context, cleaner *v1alpha1.Cleaner) (*round, error) {
	round := r.begin(cleaner)
	active := cleaner.Status.ActiveRun
	var err error
	if round.lost, err = r.recall(ctx, cleaner, round.memory); err != nil {
		return nil, err
	}
	if err := r.fold(ctx, cleaner, round); err != nil {
		return nil, err
	}
	if err := r.foldDelivery(ctx, cleaner, round); err != nil {
		return nil, err
	}
	if err := r.foldPlan(ctx, cleaner, active, round); err != nil {
		return nil, err
	}
	plan, err := r.plan(ctx, cleaner, round)
	if err != nil {
		return nil, err
	}
	r.decide(cleaner, plan, round)
	if round.isObserved(cleaner) {
		cleaner.Status.ObservedGeneration = cleaner.Generation
	}
	if round.planEnds > 0 {
		round.sleep = min(cmp.Or(round.sleep, round.planEnds), round.planEnds)
	}
	if round.soon || round.unchecked {
		round.sleep = min(cmp.Or(round.sleep, recheck), recheck)
	}
	r.showAction(cleaner, round)
	klog.FromContext(ctx).
		V(1).
		Info("Reconciled", "next", cleaner.Status.NextScheduleTime, "active",
			ptr.Deref(cleaner.Status.ActiveRun, v1alpha1.ActiveRun{}).Name)
	return round, nil
}

// isObserved reports whether the spec was looked at. While it is not, what was due stays due.
func (r *round) isObserved(cleaner *v1alpha1.Cleaner) bool {
	return r.foreign == "" && (!r.unchecked || cleaner.IsSuspended())
}

// showAction says what the next run does, and why that is less than the Cleaner's action.
func (r *CleanerReconciler) showAction(cleaner *v1alpha1.Cleaner, round *round) {
	cleaner.Status.Action = cleaner.EffectiveAction()
	observing := cleaner.Observing(r.Clock.Now())
	if cleaner.Status.DryRunReason = cmp.Or(r.WhyOff(), observing); cleaner.Status.DryRunReason != "" {
		cleaner.Status.Action = v1alpha1.ActionScan
	}
	if observing != "" { // then the status changes
		left := cleaner.Spec.ScanUntil.Sub(r.Clock.Now())
		round.sleep = min(cmp.Or(round.sleep, left), left)
	}
}

// afterwards does what must come after the status was written: nothing of it may happen twice when the write is
// retried.
func (r *CleanerReconciler) afterwards(ctx context.Context, cleaner *v1alpha1.Cleaner, round *round) {
	r.observe(cleaner, round)
	if round.attempt != nil {
		r.Executor.Drop(round.attempt.Name, round.attempt.Nominal)
	}
	if round.unrecorded != "" {
		r.Events.Eventf(
			cleaner,
			nil,
			corev1.EventTypeWarning,
			v1alpha1.ReasonRecordNotWritten,
			"Begin",
			"%s",
			v1alpha1.Truncate(round.unrecorded, 1024),
		)
	}
	if round.delivery != nil { // another may have come meanwhile
		round.memory.delivery.CompareAndSwap(round.delivery, nil)
	}
	if ended := round.ended; ended != nil && !round.repeated {
		kind := corev1.EventTypeNormal
		if !ended.Status.Phase.Good() {
			kind = corev1.EventTypeWarning
		}
		r.Events.Eventf(
			cleaner,
			ended,
			kind,
			ended.Status.Reason,
			string(ended.Spec.Action),
			"%s",
			v1alpha1.Truncate(ended.Status.Message, 1024),
		)
	}
	r.showDecided(cleaner, round)
	if round.missed != "" {
		r.Events.Eventf(cleaner, nil, corev1.EventTypeWarning, "MissedRun", "Schedule", "%s", round.missed)
	}
	if round.submit != nil {
		r.Executor.Submit(*round.submit)
	}
	r.prune(ctx, cleaner, round)
}
