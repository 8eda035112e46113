// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
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
	// 1. It ended in this process.
	if result, ok := r.Executor.Result(cleaner.Name); ok && result.Request.Nominal.Equal(active.NominalTime.Time) {
		if run := r.recordOf(ctx, cleaner, result); run.Status.Phase.Final() {
			r.end(cleaner, run, round)
			return nil
		} // else this operator is stopping, or another one took the run
		if waits, err := r.leaveToOther(ctx, cleaner, round); waits || err != nil {
			return err
		}
	}
	// 2. It waits or goes on. A suspended Cleaner stops it, and so does one that is only to report from now on.
	suspended := cleaner.IsSuspended() && !active.WhileSuspended
	if suspended {
		r.Executor.Cancel(cleaner.Name, errSuspended)
	} else if scans, err := r.becameScan(ctx, cleaner); err != nil {
		return err
	} else if scans {
		r.Executor.Cancel(cleaner.Name, errBecameScan)
	}
	if _, ok := r.Executor.Active(cleaner.Name); ok {
		return nil
	}
	// 3. This process does not know it: the record says what became of it.
	return r.takeUp(ctx, cleaner, round, suspended)
}

// becameScan reports whether the Cleaner's action was changed to Scan, and that of the active run is another. A run without a record
// waits, which it may do again, or has just read the Cleaner, perhaps before the change.
func (r *CleanerReconciler) becameScan(ctx context.Context, cleaner *v1alpha1.Cleaner) (bool, error) {
	if cleaner.EffectiveAction() != v1alpha1.ActionScan || cleaner.Status.Action == v1alpha1.ActionScan {
		return false, nil
	}
	run, err := r.Journal.Find(ctx, cleaner.Status.ActiveRun.Name)
	return err == nil && (run == nil || run.Spec.Action != v1alpha1.ActionScan), err
}

// leaveToOther reports whether another operator is carrying the active run out, one that lost its lease and is about to end. It is
// given the time to.
func (r *CleanerReconciler) leaveToOther(ctx context.Context, cleaner *v1alpha1.Cleaner, round *round) (bool, error) {
	run, err := r.Journal.Find(ctx, cleaner.Status.ActiveRun.Name)
	if err != nil || run == nil || run.Status.Phase != v1alpha1.RunExecuting || run.Status.StartTime == nil || r.Clock.Since(run.Status.StartTime.Time) > otherPatience {
		return false, err
	}
	round.soon = true
	return true, nil
}

// takeUp looks up what became of an active run whose operator went away, and goes on from there.
func (r *CleanerReconciler) takeUp(ctx context.Context, cleaner *v1alpha1.Cleaner, round *round, suspended bool) error {
	active := cleaner.Status.ActiveRun
	run, err := r.Journal.Find(ctx, active.Name)
	switch {
	case err != nil:
		return err
	case run != nil && run.Status.Phase.Final() && run.Spec.CleanerUID == cleaner.UID:
		r.end(cleaner, run, round)
	case run == nil && suspended:
		notBegun(cleaner, "because the Cleaner was suspended")
	case run == nil && r.isLate(cleaner):
		round.miss(schedule.Decision{Missed: 1, Late: active.NominalTime.Time})
		notBegun(cleaner, "because the operator was away until it was too late for startingDeadlineSeconds")
	case !r.mayTakeUp(cleaner.Name, active.Name):
		round.soon = true
	default:
		// The message makes the status differ, so that it is written, which fails if the Cleaner is not as it was read.
		setCondition(cleaner, v1alpha1.ConditionRunSucceeded, metav1.ConditionUnknown, v1alpha1.ReasonRunning,
			fmt.Sprintf("The run that was %s %s was taken up again at %s.", dueWords(active.Trigger), active.NominalTime.UTC().Format(timeFormat), r.Clock.Now().UTC().Format(time.RFC3339Nano)))
		round.submit = requestFor(cleaner, active)
	}
	return nil
}

// mayTakeUp reports whether it is time to take the run up, again if that failed: not more often than every so many seconds.
func (r *CleanerReconciler) mayTakeUp(cleaner, run string) bool {
	now := r.Clock.Now()
	last, tried := r.takenUp.Load(cleaner)
	if at, ok := last.(takenUp); tried && ok && at.run == run && now.Sub(at.time) < recheck {
		return false
	}
	r.takenUp.Store(cleaner, takenUp{run, now})
	return true
}

// takenUp is when a run was taken up last by this process.
type takenUp struct {
	run  string
	time time.Time
}

// recordOf is the record of a run that ended in this process; one that panicked gets one.
func (r *CleanerReconciler) recordOf(ctx context.Context, cleaner *v1alpha1.Cleaner, result executor.Result[*v1alpha1.CleanerRun]) *v1alpha1.CleanerRun {
	if result.Value != nil {
		return result.Value
	}
	err := cmp.Or(result.Err, errNoRecord)
	klog.FromContext(ctx).Error(err, "Run panicked")
	return panicked(cleaner, cleaner.Status.ActiveRun, err, r.Clock.Now())
}

func requestFor(cleaner *v1alpha1.Cleaner, active *v1alpha1.ActiveRun) *executor.Request {
	return &executor.Request{
		Name: cleaner.Name, Owner: string(cleaner.UID), Nominal: active.NominalTime.Time,
		Manual: active.Trigger == v1alpha1.TriggerManual, WhileSuspended: active.WhileSuspended,
		Pace: paceOf(cleaner),
	}
}

// paceOf is what the last run says of the next one. That it waited for others is not its own fault.
func paceOf(cleaner *v1alpha1.Cleaner) executor.Pace {
	last := cleaner.Status.LastRun
	if last == nil || last.Duration == nil {
		return executor.PaceUnknown
	}
	took := last.Duration.Duration - ptr.Deref(last.Waited, metav1.Duration{}).Duration
	if took >= executor.Slow || cleaner.Status.ExhaustedRuns > 0 {
		return executor.PaceSlow
	}
	return executor.PaceQuick
}

// panicked is the record of a run that a fault of the operator's ended.
func panicked(cleaner *v1alpha1.Cleaner, active *v1alpha1.ActiveRun, err error, now time.Time) *v1alpha1.CleanerRun {
	run := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{
		Cleaner: cleaner.Name, CleanerUID: cleaner.UID, NominalTime: active.NominalTime, Trigger: active.Trigger, Action: cleaner.EffectiveAction(),
	}}
	run.Name = active.Name
	run.Status.StartTime = ptr.To(metav1.NewTime(now)) // it ended as soon as it began, or its record would say more
	run.Status.Phase, run.Status.Reason = v1alpha1.RunFailed, v1alpha1.ReasonFailed
	run.Status.Message = "The run failed by a fault of KubeCleaner; please report it with the operator's log. " + v1alpha1.Truncate(err.Error(), 200)
	return run
}

// isLate reports whether the active run may not begin any more.
func (r *CleanerReconciler) isLate(cleaner *v1alpha1.Cleaner) bool {
	active, deadline := cleaner.Status.ActiveRun, startingDeadline(cleaner)
	return deadline != nil && active.Trigger == v1alpha1.TriggerSchedule && r.Clock.Since(active.NominalTime.Time) > *deadline
}

// notBegun ends the active run, which has no record.
func notBegun(cleaner *v1alpha1.Cleaner, cause string) {
	nominal := cleaner.Status.ActiveRun.NominalTime.UTC().Format(timeFormat)
	cleaner.Status.ActiveRun = nil
	setCondition(cleaner, v1alpha1.ConditionRunSucceeded, metav1.ConditionFalse, v1alpha1.ReasonFailed,
		fmt.Sprintf("The run of %s did not begin, %s.", nominal, cause))
}

// end puts an ended run into the status.
func (r *CleanerReconciler) end(cleaner *v1alpha1.Cleaner, run *v1alpha1.CleanerRun, round *round) {
	round.ended = run
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
	if run.Status.Phase != v1alpha1.RunCompleted {
		condition = metav1.ConditionFalse
		status.FailureMessage = ptr.To(message)
	}
	setCondition(cleaner, v1alpha1.ConditionRunSucceeded, condition, run.Status.Reason, message)
}

// lastRun sums a run up for status.
func lastRun(run *v1alpha1.CleanerRun) *v1alpha1.LastRun {
	last := &v1alpha1.LastRun{
		Name: run.Name, NominalTime: run.Spec.NominalTime, Trigger: run.Spec.Trigger,
		Action: run.Spec.Action, DryRun: run.Spec.DryRun,
		Duration: run.Status.Duration, Waited: run.Status.Waited, RunCounts: run.Status.RunCounts,
	}
	size := 0
	for _, object := range run.Status.Objects[:min(maxMatches, len(run.Status.Objects))] {
		object.UID = ""
		object.Message = v1alpha1.Truncate(object.Message, maxMatchMessage)
		object.Reason = v1alpha1.Truncate(object.Reason, maxMatchMessage)
		if size += object.Size(); size > maxMatchesBytes {
			break
		}
		last.Matches = append(last.Matches, object)
	}
	return last
}

func setCondition(cleaner *v1alpha1.Cleaner, kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&cleaner.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: cleaner.Generation,
	})
}
