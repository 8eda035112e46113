// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/schedule"
)

// assess says whether the Cleaner can run, in its condition Ready. It returns the schedule to run by; nil when it
// cannot.
func (r *CleanerReconciler) assess(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	round *round,
) (*schedule.Schedule, error) {
	plan, err := schedule.Parse(cleaner.Spec.Schedule, ptr.Deref(cleaner.Spec.TimeZone, ""))
	if err != nil {
		end, errCheck := r.beginCheck()
		if errCheck != nil {
			return nil, errCheck
		}
		defer end()
		cleaner.Status.Schedule = ""
		message := err.Error()
		if _, more, _ := r.Validate(ctx, cleaner); more != "" { // all mistakes at once
			message += "; " + more
		}
		refuse(cleaner, v1alpha1.ReasonInvalidSchedule, message)
		return nil, nil
	}
	cleaner.Status.Schedule = plan.String()
	mind, refused, err := r.validate(ctx, cleaner, round)
	if err != nil || refused {
		return nil, err
	}
	accept(cleaner)
	r.lookAgain(r.acting.keep(cleaner, true))
	overlapping, err := r.overlapWords(ctx, cleaner, &round.memory.overlap)
	if err != nil {
		return nil, err
	}
	words := r.readyWords(cleaner, plan) + overlapping + mind
	if cleaner.IsSuspended() {
		setReady(
			cleaner,
			metav1.ConditionTrue,
			v1alpha1.ReasonSuspended,
			"It is suspended (spec.suspend). When it is not suspended any more: "+words,
		)
		return plan, nil
	}
	if exhausted(cleaner) {
		setReady(cleaner, metav1.ConditionFalse, v1alpha1.ReasonBudgetExhausted, fmt.Sprintf(
			"The schedule is stopped, because in the last %d runs the scripts used up their time or memory. The condition RunSucceeded has the details. Correct the script, or request a run (annotation %s). After a successful run, the schedule continues.",
			cleaner.Status.ExhaustedRuns,
			v1alpha1.RunRequestedAtAnnotation,
		))
		return plan, nil
	}
	setReady(cleaner, metav1.ConditionTrue, v1alpha1.ReasonScheduled, words)
	return plan, nil
}

// validate asks whether the spec can be carried out, if that has to be asked: it refuses the Cleaner, or says what to
// mind.
func (r *CleanerReconciler) validate(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	round *round,
) (mind string, refused bool, err error) {
	if !r.mustValidate(cleaner, round) {
		return "", false, nil
	}
	end, err := r.beginCheck()
	if err != nil {
		return "", false, err
	}
	defer end()
	if err := r.dropIdleCounts(ctx, cleaner, round.memory); err != nil {
		return "", false, err
	}
	reason, message, err := r.Validate(ctx, cleaner)
	if err != nil {
		// A run that is to touch something asks again, and does nothing without an answer.
		klog.FromContext(ctx).Error(err, "Could not check the Cleaner's kinds")
		round.unchecked = true
	}
	switch {
	case reason != "":
	case apierrors.IsForbidden(err): // it will not pass by itself
		words := v1alpha1.Truncate(strings.ReplaceAll(err.Error(), "\n", "; "), maxStatusMessage/2)
		return " Note: its kinds could not be checked: " + words, false, nil
	case err != nil:
		return "", staysRefused(cleaner), nil
	default:
		return "", false, nil
	}
	round.sleep = recheck
	if cleaner.IsSuspended() && !stalls(cleaner, reason) {
		words := v1alpha1.Truncate(message, maxStatusMessage/2)
		return " Note: it is suspended, and could not run if it were not: " + words, false, nil
	}
	refuse(cleaner, reason, message)
	return "", true, nil
}

// staysRefused leaves a Cleaner refused for what only the cluster knows, while the cluster cannot be asked whether that
// is over. It reports whether it did.
func staysRefused(cleaner *v1alpha1.Cleaner) bool {
	ready := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.ObservedGeneration != cleaner.Generation {
		return false
	}
	switch ready.Reason {
	case v1alpha1.ReasonUnknownKind, v1alpha1.ReasonServiceAccountForbidden, v1alpha1.ReasonInvalidExpression:
		refuse(cleaner, ready.Reason, ready.Message)
		return true
	}
	return false
}

// refuse says why the Cleaner does not run, also where users of k8s-cleaner look.
func refuse(cleaner *v1alpha1.Cleaner, reason, message string) {
	message = v1alpha1.Truncate(message, maxStatusMessage)
	setReady(cleaner, metav1.ConditionFalse, reason, message)
	cleaner.Status.FailureMessage = &message
}

// accept takes back what refuse said there: what is left to say is how the last run failed, if it did.
func accept(cleaner *v1alpha1.Cleaner) {
	status := &cleaner.Status
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionFalse || status.FailureMessage == nil ||
		*status.FailureMessage != ready.Message {
		return
	}
	status.FailureMessage = nil
	if last := meta.FindStatusCondition(
		status.Conditions,
		v1alpha1.ConditionRunSucceeded,
	); last != nil &&
		last.Status == metav1.ConditionFalse {
		status.FailureMessage = ptr.To(last.Message)
	}
}

// beginCheck begins a check, unless there are as many as may be: then the error is errNotNow.
func (r *CleanerReconciler) beginCheck() (end func(), err error) {
	switch {
	case r.checks == nil:
		return func() {}, nil
	case !r.checks.TryAcquire(1):
		return nil, errNotNow
	}
	return func() { r.checks.Release(1) }, nil
}

// readyWords says when the Cleaner runs, and what to mind.
func (r *CleanerReconciler) readyWords(cleaner *v1alpha1.Cleaner, plan *schedule.Schedule) string {
	words := "It runs " + plan.String() + "."
	if jitter := r.jitter(cleaner); jitter > 0 {
		words += fmt.Sprintf(" Each run starts %s later (--jitter-window).", jitter)
	}
	if why := cmp.Or(r.WhyOff(), cleaner.Observing(r.Clock.Now())); why != "" {
		words += " " + strings.ToUpper(why[:1]) + why[1:] + ": nothing is touched."
		if strings.HasPrefix(why, v1alpha1.StopWords) {
			words += " To let Cleaners act again: kubectl cleaner resume."
		}
	}
	if r.CheckClock() != nil { // its words change with each second
		words += " Note: no scheduled run starts, because the clock of the operator's node differs from that of the API server. Set the clock of that node."
	}
	for _, warning := range plan.Warnings() {
		words += " Note: " + warning + "."
	}
	if cleaner.Spec.Transform != "" && cleaner.EffectiveAction() != v1alpha1.ActionTransform {
		words += fmt.Sprintf(" Note: transform is not used, because the action is %s.", cleaner.EffectiveAction())
	}
	return words
}

// maxExhausted is after how many runs in a row in which scripts used up their time or memory the schedule stops.
const maxExhausted = 3

// exhausted reports whether the schedule is stopped because of the Cleaner's scripts.
func exhausted(cleaner *v1alpha1.Cleaner) bool { return cleaner.Status.ExhaustedRuns >= maxExhausted }

// mustValidate is true when the spec is new, was not valid, or may have ceased to be.
func (r *CleanerReconciler) mustValidate(cleaner *v1alpha1.Cleaner, round *round) bool {
	if cleaner.Status.ObservedGeneration != cleaner.Generation {
		return true
	}
	if r.RequireServiceAccount && cleaner.Spec.ServiceAccountRef == nil { // the flag may be newer than what was found then
		return true
	}
	if cleaner.IsSuspended() { // it is ready, whether or not what it needs is there
		return true
	}
	if account := cleaner.Spec.ServiceAccountRef; account != nil && r.AccountRefused(*account) {
		return true
	}
	if round.ended != nil && raisesDoubt(round.ended, cleaner) {
		return true
	}
	ready := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionReady)
	return ready == nil || (ready.Status != metav1.ConditionTrue && ready.Reason != v1alpha1.ReasonBudgetExhausted)
}

// raisesDoubt reports whether the Cleaner may be valid no more, by a run that ended.
func raisesDoubt(ended *v1alpha1.CleanerRun, cleaner *v1alpha1.Cleaner) bool {
	if ended.Spec.CleanerGeneration != cleaner.Generation {
		return true // a run of an older spec may have left counts that nobody wants any more
	}
	// A kind may be gone, or have another schema.
	return ended.Status.Reason == v1alpha1.ReasonViewIncomplete || ended.Status.Reason == v1alpha1.ReasonFailed
}

// dropIdleCounts clears the counts of a Cleaner that does not count, once: nobody else than its runs makes new ones. A
// run that counted when it began may still do so.
func (r *CleanerReconciler) dropIdleCounts(ctx context.Context, cleaner *v1alpha1.Cleaner, memory *memory) error {
	if cleaner.KeepsCounts() {
		memory.countless = false
		return nil
	}
	if memory.countless {
		return nil
	}
	err := r.Journal.DropCounts(ctx, cleaner)
	memory.countless = err == nil && cleaner.Status.ActiveRun == nil
	return err
}
