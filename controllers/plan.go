// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// foldPlan brings the plan that waits for a person up to date: a run made a newer one, the Cleaner was edited, somebody
// decided, or its time is over.
func (r *CleanerReconciler) foldPlan(ctx context.Context, cleaner *v1alpha1.Cleaner, round *round) error {
	if err := r.takePlan(ctx, cleaner, round.ended); err != nil {
		return err
	}
	plan := cleaner.Status.Plan
	if plan == nil || cleaner.Status.ActiveRun != nil {
		return nil
	}
	if !cleaner.NeedsApproval() || cleaner.Status.ObservedGeneration != cleaner.Generation {
		return r.endPlan(ctx, cleaner, v1alpha1.ReasonSuperseded, "The Cleaner was edited, nothing was touched; the next run makes another plan.")
	}
	said, err := r.Journal.Decision(ctx, cleaner.Name, plan)
	left := plan.ExpirationTime.Sub(r.Clock.Now())
	switch {
	case journal.IsNotApproved(err):
		r.awaits(cleaner, "The approval of the plan of CleanerRun "+plan.Run+" does not count: "+err.Error())
		round.soon = true
	case err != nil:
		return err
	case said == nil && left <= 0:
		return r.endPlan(ctx, cleaner, v1alpha1.ReasonExpired, fmt.Sprintf(
			"Nobody approved the plan until %s, nothing was touched; the next run makes another.", plan.ExpirationTime.UTC().Format(timeFormat)))
	case said == nil:
		round.planEnds = left
	case said.Spec.Decision == v1alpha1.DecisionReject:
		return r.endPlan(ctx, cleaner, v1alpha1.ReasonRejected, fmt.Sprintf(
			"%s rejected the plan, nothing was touched. %s", said.Spec.By, cmp.Or(said.Spec.Reason, "No reason was given.")))
	case r.actsNot(cleaner) != "":
		r.awaits(cleaner, fmt.Sprintf("%s approved the plan of CleanerRun %s. It is carried out as soon as runs act again: %s.",
			said.Spec.By, plan.Run, r.actsNot(cleaner)))
		round.soon = true
	default:
		round.approved = &v1alpha1.ApprovedPlan{PlanRef: plan.PlanRef, By: said.Spec.By}
	}
	return nil
}

// actsNot says why runs only report now, although the Cleaner's action is another. Empty when they act.
func (r *CleanerReconciler) actsNot(cleaner *v1alpha1.Cleaner) string {
	return cmp.Or(r.WhyOff(), cleaner.Observing(r.Clock.Now()))
}

// takePlan takes the plan of a run that has ended, in place of an older one. An older one that is the same stays: who is
// about to approve it need not begin again. A run that has no plan because it could not judge leaves it as well.
func (r *CleanerReconciler) takePlan(ctx context.Context, cleaner *v1alpha1.Cleaner, ended *v1alpha1.CleanerRun) error {
	if ended == nil || ended.Spec.Action == v1alpha1.ActionScan || !ended.Status.Phase.Good() {
		return nil
	}
	before, now := cleaner.Status.Plan, ended.Status.Plan
	switch {
	case before == nil:
	case now != nil && before.Run == ended.Name:
		return nil
	case now != nil && before.Hash == now.Hash && before.ExpirationTime.After(r.Clock.Now()):
		return r.Journal.ClosePlan(ctx, ended.Name, v1alpha1.ReasonSuperseded, fmt.Sprintf(
			"The same plan waits already, until %s: kubectl cleaner approve %s", before.ExpirationTime.UTC().Format(timeFormat), before.Run))
	default:
		if err := r.endPlan(ctx, cleaner, v1alpha1.ReasonSuperseded,
			"CleanerRun "+ended.Name+" judged everything anew; nothing was touched."); err != nil {
			return err
		}
	}
	if now != nil && ended.Status.Phase == v1alpha1.RunAwaitingApproval {
		cleaner.Status.Plan = &v1alpha1.WaitingPlan{
			PlanRef: v1alpha1.PlanRef{Run: ended.Name, Hash: now.Hash},
			Objects: now.Objects, ExpirationTime: now.ExpirationTime,
		}
	}
	return nil
}

// endPlan ends the waiting of the plan, first in its record.
func (r *CleanerReconciler) endPlan(ctx context.Context, cleaner *v1alpha1.Cleaner, reason, message string) error {
	run := cleaner.Status.Plan.Run
	if err := r.Journal.ClosePlan(ctx, run, reason, message); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Plan does not wait any more", "run", run, "reason", reason, "message", message)
	cleaner.Status.Plan = nil
	if last := cleaner.Status.LastRun; last != nil && last.Name == run {
		setCondition(cleaner, v1alpha1.ConditionRunSucceeded, metav1.ConditionTrue, reason, v1alpha1.Truncate(message, maxStatusMessage))
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
	r.start(cleaner, round, v1alpha1.ActiveRun{
		NominalTime: metav1.NewTime(nominal), Trigger: v1alpha1.TriggerApproval, Plan: round.approved,
	})
}
