// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// foldPlan brings the plan that waits for a person up to date: a run made a newer one, the Cleaner was edited, somebody
// decided, or its time is over. active is the run that was active before this round.
func (r *CleanerReconciler) foldPlan(
	ctx context.Context, cleaner *v1alpha1.Cleaner, active *v1alpha1.ActiveRun, round *round,
) error {
	if active != nil && active.Plan != nil && cleaner.Status.ActiveRun == nil { // if it took the plan, this does nothing
		if err := r.Journal.ClosePlan(ctx, active.Plan.Run, v1alpha1.ReasonSuperseded, fmt.Sprintf(
			"%s approved the plan, but CleanerRun %s did not carry it out. Nothing was touched. The next run makes a new plan.",
			active.Plan.By, active.Name)); err != nil {
			return err
		}
	}
	if err := r.takePlan(ctx, cleaner, round.ended); err != nil {
		return err
	}
	plan := cleaner.Status.Plan
	switch {
	case plan == nil:
		return nil
	case !cleaner.NeedsApproval() || round.edited:
		return r.endPlan(ctx, cleaner, plan.Run, v1alpha1.ReasonSuperseded,
			"Nothing was touched, because the Cleaner was edited after the plan was made. The next run makes a new plan.")
	case cleaner.Status.ActiveRun != nil:
		return nil
	}
	return r.foldDecision(ctx, cleaner, plan, round)
}

// foldDecision takes what a person said of the plan, if anybody did in time.
func (r *CleanerReconciler) foldDecision(
	ctx context.Context, cleaner *v1alpha1.Cleaner, plan *v1alpha1.WaitingPlan, round *round,
) error {
	said, err := r.Journal.Decision(ctx, cleaner.Name, plan)
	left := plan.ExpirationTime.Sub(r.Clock.Now())
	switch {
	case err != nil && !journal.IsNotApproved(err):
		return err
	case said == nil && left <= 0:
		return r.decided(ctx, cleaner, plan, round, v1alpha1.ReasonExpired, fmt.Sprintf(
			"Nothing was touched, because nobody approved the plan before %s. The next run makes a new plan.",
			plan.ExpirationTime.UTC().Format(timeFormat)))
	case said != nil:
		return r.foldSaid(ctx, cleaner, plan, round, &said.Spec, err)
	case err != nil:
		r.awaits(cleaner, "The approval of the plan of CleanerRun "+plan.Run+" is not valid: "+err.Error())
		round.planEnds = min(left, recheck)
	default:
		round.planEnds = left
	}
	return nil
}

// foldSaid takes what a person said of the plan. not says why it does not count, if it does not: it cannot be changed,
// and its name is taken, so only another plan helps.
func (r *CleanerReconciler) foldSaid(
	ctx context.Context, cleaner *v1alpha1.Cleaner, plan *v1alpha1.WaitingPlan, round *round,
	said *v1alpha1.CleanerApprovalSpec, not error,
) error {
	why := cmp.Or(said.Reason, "No reason was given.")
	switch {
	case not != nil:
		return r.decided(ctx, cleaner, plan, round, v1alpha1.ReasonPlanNotApproved, fmt.Sprintf(
			"Nothing was touched. The decision of %s is not valid: %s. The next run makes a new plan.", said.By, not))
	case said.Decision == v1alpha1.DecisionReject:
		return r.decided(ctx, cleaner, plan, round, v1alpha1.ReasonRejected, fmt.Sprintf(
			"%s rejected the plan of CleanerRun %s. Nothing was touched. %s", said.By, plan.Run, why))
	case r.actsNot(cleaner) != "":
		r.awaits(cleaner, fmt.Sprintf("%s approved the plan of CleanerRun %s. It is carried out as soon as runs act again: %s.",
			said.By, plan.Run, r.actsNot(cleaner)))
		round.soon = true
	default:
		round.approved = &v1alpha1.ApprovedPlan{PlanRef: plan.PlanRef, By: said.By}
		round.decidedWhy = fmt.Sprintf("%s approved the plan of CleanerRun %s. %s", said.By, plan.Run, why)
	}
	return nil
}

// decided ends the waiting of a plan of which a person said something, or nobody did in time.
func (r *CleanerReconciler) decided(
	ctx context.Context, cleaner *v1alpha1.Cleaner, plan *v1alpha1.WaitingPlan, round *round, reason, message string,
) error {
	round.decided, round.decidedWhy = reason, message
	return r.endPlan(ctx, cleaner, plan.Run, reason, message)
}

// showDecided says in an Event what became of a plan that a person decided on, or nobody in time.
func (r *CleanerReconciler) showDecided(cleaner *v1alpha1.Cleaner, round *round) {
	if round.decided == "" {
		return
	}
	kind := corev1.EventTypeNormal
	if round.decided == v1alpha1.ReasonPlanNotApproved {
		kind = corev1.EventTypeWarning
	}
	r.Events.Eventf(cleaner, nil, kind, round.decided, "Decide", "%s", v1alpha1.Truncate(round.decidedWhy, 1024))
}

// actsNot says why runs only report now, although the Cleaner's action is another. Empty when they act.
func (r *CleanerReconciler) actsNot(cleaner *v1alpha1.Cleaner) string {
	return cmp.Or(r.WhyOff(), cleaner.Observing(r.Clock.Now()))
}

// takePlan takes the plan of a run that has ended, in place of an older one. An older one stays if it is the same, so
// that who is about to approve it need not begin again, or was approved meanwhile. A run that could not judge leaves it
// as well.
func (r *CleanerReconciler) takePlan(ctx context.Context, cleaner *v1alpha1.Cleaner, ended *v1alpha1.CleanerRun) error {
	if ended == nil || !replacesPlans(ended) {
		return nil
	}
	now := ended.Status.Plan
	if now != nil && ended.Spec.CleanerSpecHash != cleaner.Spec.Hash() {
		return r.endPlan(ctx, cleaner, ended.Name, v1alpha1.ReasonSuperseded,
			"Nothing was touched, because the Cleaner was edited after the plan was made. The next run makes a new plan.")
	}
	if stays, err := r.makeRoom(ctx, cleaner, ended); stays || err != nil {
		return err
	}
	if ended.Status.Phase == v1alpha1.RunAwaitingApproval {
		cleaner.Status.Plan = &v1alpha1.WaitingPlan{
			PlanRef: v1alpha1.PlanRef{Run: ended.Name, Hash: now.Hash},
			Objects: now.Objects, ExpirationTime: now.ExpirationTime,
		}
	}
	return nil
}

// replacesPlans reports whether a run judged everything anew, so that what was planned before is not worth waiting for.
func replacesPlans(run *v1alpha1.CleanerRun) bool {
	return run.Spec.Action != v1alpha1.ActionScan && run.Spec.Plan == nil && run.Status.Phase.Good()
}

// makeRoom ends the plan that waits, if one does, because a newer run has ended; or it ends the plan of that run, if
// the older one stays.
func (r *CleanerReconciler) makeRoom(
	ctx context.Context, cleaner *v1alpha1.Cleaner, ended *v1alpha1.CleanerRun,
) (stays bool, err error) {
	before := cleaner.Status.Plan
	if before == nil || before.Run == ended.Name {
		return before != nil, nil
	}
	why, err := r.stays(ctx, cleaner, before, ended.Status.Plan)
	switch {
	case err != nil:
		return false, err
	case why == "":
		return false, r.endPlan(ctx, cleaner, before.Run, v1alpha1.ReasonSuperseded,
			"CleanerRun "+ended.Name+" judged everything again. Nothing was touched.")
	}
	r.awaits(cleaner, why)
	return true, r.Journal.ClosePlan(ctx, ended.Name, v1alpha1.ReasonSuperseded, why)
}

// stays says why the plan that waits stays although a newer run has ended. Empty if it does not.
func (r *CleanerReconciler) stays(
	ctx context.Context, cleaner *v1alpha1.Cleaner, before *v1alpha1.WaitingPlan, now *v1alpha1.RunPlan,
) (string, error) {
	if now != nil && before.Hash == now.Hash && before.ExpirationTime.After(r.Clock.Now()) {
		return "Nothing was touched. " + before.Waits(), nil
	}
	said, err := r.Journal.Decision(ctx, cleaner.Name, before)
	switch {
	case err != nil && !journal.IsNotApproved(err):
		return "", err
	case err == nil && said != nil && said.Spec.Decision == v1alpha1.DecisionApprove:
		return fmt.Sprintf("Nothing was touched. %s approved the plan of CleanerRun %s meanwhile.",
			said.Spec.By, before.Run), nil
	}
	return "", nil
}

// endPlan ends the waiting of the plan of a run, first in its record.
func (r *CleanerReconciler) endPlan(ctx context.Context, cleaner *v1alpha1.Cleaner, run, reason, message string) error {
	if err := r.Journal.ClosePlan(ctx, run, reason, message); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Plan does not wait any more", "run", run, "reason", reason, "message", message)
	if plan := cleaner.Status.Plan; plan != nil && plan.Run == run {
		cleaner.Status.Plan = nil
	}
	message = v1alpha1.Truncate(message, maxStatusMessage)
	said := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionRunSucceeded)
	if said != nil && said.Reason == v1alpha1.ReasonAwaitingApproval {
		succeeded := metav1.ConditionTrue
		if reason == v1alpha1.ReasonPlanNotApproved {
			succeeded, cleaner.Status.FailureMessage = metav1.ConditionFalse, &message
		}
		setCondition(cleaner, v1alpha1.ConditionRunSucceeded, succeeded, reason, message)
	}
	return nil
}

// awaits says in status what else the plan waits for.
func (r *CleanerReconciler) awaits(cleaner *v1alpha1.Cleaner, message string) {
	setCondition(cleaner, v1alpha1.ConditionRunSucceeded, metav1.ConditionUnknown, v1alpha1.ReasonAwaitingApproval,
		v1alpha1.Truncate(message, maxStatusMessage))
}

// startApproved starts the run that carries out the approved plan.
func (r *CleanerReconciler) startApproved(cleaner *v1alpha1.Cleaner, round *round, now time.Time) {
	nominal, wait := manualTime(cleaner, now)
	if wait > 0 {
		round.sleep = wait
		return
	}
	cleaner.Status.Plan = nil
	round.decided = v1alpha1.ReasonApproved
	r.start(cleaner, round, v1alpha1.ActiveRun{
		NominalTime: metav1.NewTime(nominal), Trigger: v1alpha1.TriggerApproval, Plan: round.approved,
	})
}
