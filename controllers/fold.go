// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/schedule"
)

// Bounds that keep a Cleaner's status small. The full text is in the CleanerRun.
const (
	maxMatches       = 50
	maxMatchesBytes  = 16 << 10
	maxMatchMessage  = 128
	maxStatusMessage = 1024
)

// fold brings the active run up to date: still going on, ended, or to be taken up again because its operator went away.
func (r *CleanerReconciler) fold(ctx context.Context, cleaner *v1alpha1.Cleaner, round *round) error {
	active := cleaner.Status.ActiveRun
	if active == nil {
		return nil
	}
	// 1. An attempt at it ended in this process: its record says how.
	if result, ok := r.Executor.Result(cleaner.Name); ok && result.Request.Nominal.Equal(active.NominalTime.Time) {
		if done, err := r.foldAttempt(ctx, cleaner, result, round); done || err != nil {
			return err
		}
	}
	// 2. It waits or goes on, unless the Cleaner stops it.
	stopped, err := r.whyStopped(ctx, cleaner)
	if err != nil {
		return err
	}
	if stopped != nil {
		r.Executor.Cancel(cleaner.Name, stopped)
	}
	if _, ok := r.Executor.Active(cleaner.Name); ok {
		return nil
	}
	// 3. This process does not know it: the record says what became of it.
	return r.takeUp(ctx, cleaner, round, stopped)
}

// foldAttempt folds in an attempt that ended in this process. It reports whether there is nothing more to do now.
func (r *CleanerReconciler) foldAttempt(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	result executor.Result[Attempt],
	round *round,
) (done bool, err error) {
	run, err := r.Journal.Find(ctx, cleaner.Status.ActiveRun.Name)
	if err != nil {
		return false, err
	}
	round.attempt = &result.Request
	fault := result.Value.Err
	switch {
	case result.Err != nil:
		klog.FromContext(ctx).Error(result.Err, "Run panicked")
		fault = errPanicked
	case result.Value.Recorded && run == nil:
		fault = errRecordDeleted
	}
	return r.foldRecord(ctx, cleaner, run, fault, round), nil
}

// foldRecord folds in what the record of an attempt says, which is nil when there is none; fault is why. It asks
// nobody.
func (r *CleanerReconciler) foldRecord(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	run *v1alpha1.CleanerRun,
	fault error,
	round *round,
) (done bool) {
	gone := goneWords(run, fault)
	switch isOurs := run != nil && run.Spec.CleanerUID == cleaner.UID; {
	case isOurs && run.Status.Phase.Final():
		r.end(cleaner, run, round)
	case isOurs && isLeftToOther(run, r.Clock.Now()): // this operator is stopping, or another one took the run
		round.soon = true
	case gone != "": // it may have acted, and is not done twice
		notBegun(cleaner, gone)
	case isOurs || fault == nil: // it is taken up again
		return false
	default:
		r.notRecorded(ctx, cleaner, fault, round)
	}
	return true
}

// goneWords say of a run whose record somebody deleted what is known of it. Empty for other runs.
func goneWords(run *v1alpha1.CleanerRun, fault error) string {
	switch {
	case run != nil:
	case errors.Is(fault, errRecordDeleted):
		return "It is not known what the run did, and the run is not repeated: " + fault.Error()
	case errors.Is(fault, journal.ErrGone):
		return "The run was stopped: " + fault.Error()
	}
	return ""
}

// notRecorded is of a run that could not begin. It is tried again, unless it is too late for that.
func (r *CleanerReconciler) notRecorded(ctx context.Context, cleaner *v1alpha1.Cleaner, fault error, round *round) {
	klog.FromContext(ctx).Error(fault, "Run could not begin", "run", cleaner.Status.ActiveRun.Name)
	words := "The run could not begin, nothing was touched: " + strings.ReplaceAll(fault.Error(), "\n", "; ")
	switch why := round.mayNotBegin(nil); {
	case why != "":
		notBegun(cleaner, notBegunWords(cleaner, "because "+why))
		return
	case r.isLate(cleaner):
		round.miss(schedule.Decision{Missed: 1, Late: cleaner.Status.ActiveRun.NominalTime.Time})
		fallthrough
	case errors.Is(fault, journal.ErrOtherCleaner):
		notBegun(cleaner, words)
		return
	}
	round.unrecorded = words
	message := v1alpha1.Truncate(words, maxStatusMessage)
	setCondition(cleaner, v1alpha1.ConditionRunSucceeded, metav1.ConditionFalse, v1alpha1.ReasonRecordNotWritten, message)
	cleaner.Status.FailureMessage = &message
	r.mayTakeUp(round.memory, cleaner.Status.ActiveRun.Name) // not before some time has passed
	round.soon = true
}

// isLeftToOther reports whether another operator may be carrying the run out, one that lost its lease and is about to
// end. It is given the time to.
func isLeftToOther(run *v1alpha1.CleanerRun, now time.Time) bool {
	return run.Status.Phase == v1alpha1.RunExecuting && run.Status.StartTime != nil &&
		now.Sub(run.Status.StartTime.Time) <= otherPatience
}

// takeUp looks up what became of an active run whose operator went away, and goes on from there.
func (r *CleanerReconciler) takeUp(ctx context.Context, cleaner *v1alpha1.Cleaner, round *round, stopped error) error {
	active := cleaner.Status.ActiveRun
	run, err := r.Journal.Find(ctx, active.Name)
	switch {
	case err != nil:
		return err
	case run != nil && run.Status.Phase.Final() && run.Spec.CleanerUID == cleaner.UID:
		r.end(cleaner, run, round)
	case run == nil && r.giveUp(cleaner, round, stopped):
	case !r.mayTakeUp(round.memory, active.Name):
		round.soon = true
	default:
		// The message makes the status differ, so that it is written, which fails if the Cleaner is not as it was read.
		setCondition(
			cleaner,
			v1alpha1.ConditionRunSucceeded,
			metav1.ConditionUnknown,
			v1alpha1.ReasonRunning,
			fmt.Sprintf(
				"The run that was %s %s was resumed at %s.",
				dueWords(active.Trigger),
				active.NominalTime.UTC().Format(timeFormat),
				r.Clock.Now().UTC().Format(time.RFC3339Nano),
			),
		)
		round.submit = r.requestFor(cleaner, active)
	}
	return nil
}

// mayTakeUp reports whether it is time to take the run up, again if that failed: not more often than every so many
// seconds.
func (r *CleanerReconciler) mayTakeUp(memory *memory, run string) bool {
	now := r.Clock.Now()
	if last := memory.takenUp; last.run == run && now.Sub(last.time) < recheck {
		return false
	}
	memory.takenUp = takenUp{run, now}
	return true
}

func (r *CleanerReconciler) requestFor(cleaner *v1alpha1.Cleaner, active *v1alpha1.ActiveRun) *executor.Request {
	account := ""
	if active.ServiceAccountRef != nil {
		account = active.ServiceAccountRef.String()
	}
	return &executor.Request{
		Name: cleaner.Name, Owner: string(cleaner.UID), Nominal: active.NominalTime.Time,
		Spec: cleaner.Status.ObservedSpec, Account: account,
		Manual: active.Trigger != v1alpha1.TriggerSchedule, WhileSuspended: active.WhileSuspended,
		Lane: laneOf(cleaner), Weight: r.Weight(cleaner),
	}
}

// slow is after how long a run counts as slow.
const slow = 10 * time.Second

// laneOf is what the last run says of the next one.
func laneOf(cleaner *v1alpha1.Cleaner) executor.Lane {
	last := cleaner.Status.LastRun
	switch {
	case last == nil || last.Duration == nil:
		return executor.LaneUnknown
	case last.Duration.Duration >= slow || cleaner.Status.ExhaustedRuns > 0:
		return executor.LaneSlow
	}
	return executor.LaneQuick
}

// giveUp ends the active run, which has no record, if it may not begin any more. It reports whether it did.
func (r *CleanerReconciler) giveUp(cleaner *v1alpha1.Cleaner, round *round, stopped error) bool {
	why := round.mayNotBegin(stopped)
	switch active := cleaner.Status.ActiveRun; {
	case why != "":
	case r.isLate(cleaner):
		round.miss(schedule.Decision{Missed: 1, Late: active.NominalTime.Time})
		why = "no operator was running, and then startingDeadlineSeconds had passed"
	case r.isForgotten(active):
		why = fmt.Sprintf("it was requested more than %d minutes before the operator started. Request it again with kubectl cleaner run",
			int(requestLife.Minutes()))
	default:
		return false
	}
	notBegun(cleaner, notBegunWords(cleaner, "because "+why))
	return true
}

// isForgotten reports whether a run was asked for long before this operator came up: nobody expects it any more.
func (r *CleanerReconciler) isForgotten(active *v1alpha1.ActiveRun) bool {
	return active.Trigger == v1alpha1.TriggerManual && active.NominalTime.Time.Before(r.begun().Add(-requestLife))
}

// isLate reports whether the active run may not begin any more.
func (r *CleanerReconciler) isLate(cleaner *v1alpha1.Cleaner) bool {
	active, deadline := cleaner.Status.ActiveRun, cleaner.StartingDeadline()
	return deadline != nil && active.Trigger == v1alpha1.TriggerSchedule &&
		r.Clock.Since(active.NominalTime.Time) > *deadline
}

// notBegun ends the active run, which has no record.
func notBegun(cleaner *v1alpha1.Cleaner, message string) {
	message = v1alpha1.Truncate(message, maxStatusMessage)
	cleaner.Status.ActiveRun, cleaner.Status.FailureMessage = nil, &message
	setCondition(cleaner, v1alpha1.ConditionRunSucceeded, metav1.ConditionFalse, v1alpha1.ReasonFailed, message)
}

// notBegunWords say that the active run did not begin.
func notBegunWords(cleaner *v1alpha1.Cleaner, cause string) string {
	return fmt.Sprintf(
		"The run of %s did not begin, %s.",
		cleaner.Status.ActiveRun.NominalTime.UTC().Format(timeFormat),
		cause,
	)
}

// end puts an ended run into the status.
func (r *CleanerReconciler) end(cleaner *v1alpha1.Cleaner, run *v1alpha1.CleanerRun, round *round) {
	round.ended, round.repeated = run, isRepeated(cleaner, run)
	status := &cleaner.Status
	status.ActiveRun = nil
	status.LastRunTime = run.Status.StartTime
	status.LastRun = lastRun(run)
	if run.Status.Exhausted {
		status.ExhaustedRuns++
	} else {
		status.ExhaustedRuns = 0
	}
	status.FailureMessage = nil
	message := v1alpha1.Truncate(run.Status.Message, maxStatusMessage)
	condition := metav1.ConditionTrue
	switch {
	case run.Status.Phase == v1alpha1.RunAwaitingApproval:
		condition = metav1.ConditionUnknown
	case run.Status.Phase != v1alpha1.RunCompleted:
		condition = metav1.ConditionFalse
		status.FailureMessage = ptr.To(message)
	}
	setCondition(cleaner, v1alpha1.ConditionRunSucceeded, condition, run.Status.Reason, message)
}

func setCondition(cleaner *v1alpha1.Cleaner, kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&cleaner.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: cleaner.Generation,
	})
}
