// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/schedule"
)

const (
	timeFormat = time.RFC3339
	// clockSkew is by how much the clock of who asks may be behind the API server's.
	clockSkew = time.Minute
)

// declineRun says of a run that was asked for, if one was, that it does not begin because the Cleaner cannot run.
func declineRun(cleaner *v1alpha1.Cleaner, requested string, asked bool) {
	if !asked {
		return
	}
	ready := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionReady)
	decline(cleaner, requested, ready.Message)
}

// decline answers a request for a run with the reason why there is none.
func decline(cleaner *v1alpha1.Cleaner, requested, why string) {
	cleaner.Status.LastHandledRunRequest = requested
	setCondition(cleaner, v1alpha1.ConditionRunSucceeded, metav1.ConditionFalse, v1alpha1.ReasonFailed,
		"The run that was asked for did not begin: "+why)
}

// decide plans the next run and picks the one that is due. A nil plan means that the Cleaner cannot run.
func (r *CleanerReconciler) decide(cleaner *v1alpha1.Cleaner, plan *schedule.Schedule, round *round) {
	now := r.Clock.Now()
	requested := cleaner.RunRequest()
	manual := cleaner.IsRunRequested()
	busy := cleaner.Status.ActiveRun != nil
	if manual && round.ended != nil && waitedFor(requested, round.ended, r.begun()) {
		round.memory.waited = requested // perhaps for another run as well
	}
	// 1. It cannot run at all.
	if plan == nil {
		if round.foreign == "" {
			cleaner.Status.NextScheduleTime = nil
		}
		declineRun(cleaner, requested, manual && !busy)
		return
	}
	// 2. The schedule.
	waits := round.approved != nil || manual && r.goesFirst(cleaner, round, requested)
	due := r.tick(cleaner, plan, round, now, busy || waits)
	if busy {
		return
	}
	r.startNext(cleaner, round, now, due, manual)
}

// goesFirst reports whether a run that was asked for comes before one that is due by the schedule: a scheduled run has
// just ended. Otherwise it would never begin where runs take longer than their period.
func (r *CleanerReconciler) goesFirst(cleaner *v1alpha1.Cleaner, round *round, requested string) bool {
	return round.ended != nil && round.ended.Spec.Trigger == v1alpha1.TriggerSchedule &&
		!restored(cleaner, requested) && r.whyStale(round, requested) == ""
}

// startNext starts what is to start now, if anything: what a person approved first, since another run would make
// another plan; then what is due by the schedule, and then a run that was asked for.
func (r *CleanerReconciler) startNext(
	cleaner *v1alpha1.Cleaner, round *round, now, due time.Time, manual bool,
) {
	requested := cleaner.RunRequest()
	switch {
	case round.approved != nil:
		r.startApproved(cleaner, round, now)
	case !due.IsZero():
		r.start(cleaner, round, v1alpha1.ActiveRun{NominalTime: metav1.NewTime(due), Trigger: v1alpha1.TriggerSchedule})
	case manual && restored(cleaner, requested):
		cleaner.Status.LastHandledRunRequest = requested
	case manual && r.declineStale(cleaner, round, requested):
	case manual:
		nominal, wait := manualTime(cleaner, now)
		if wait > 0 {
			round.sleep = wait
			return
		}
		cleaner.Status.LastHandledRunRequest = requested
		r.start(
			cleaner,
			round,
			v1alpha1.ActiveRun{NominalTime: metav1.NewTime(nominal), Trigger: v1alpha1.TriggerManual, RunRequest: requested},
		)
	}
}

// tick moves the schedule on, and returns the nominal time that is due. A run that goes on lets the time stand still:
// what came due meanwhile is looked at when it has ended.
func (r *CleanerReconciler) tick(
	cleaner *v1alpha1.Cleaner,
	plan *schedule.Schedule,
	round *round,
	now time.Time,
	busy bool,
) (due time.Time) {
	status := &cleaner.Status
	if cleaner.IsSuspended() || exhausted(cleaner) {
		status.NextScheduleTime = nil
		return time.Time{}
	}
	if r.CheckClock() != nil { // what is due, nobody knows
		round.soon = true
		if isOfOlderSpec(cleaner, plan, now) {
			status.NextScheduleTime = nil
		}
		return time.Time{}
	}
	planned := r.planned(cleaner, plan, now)
	status.NextScheduleTime = &metav1.Time{Time: planned}
	jitter, deadline := r.jitter(cleaner), cleaner.StartingDeadline()
	now = now.Add(-jitter) // as if the clock were late
	if planned.After(now) {
		round.sleep = min(planned.Sub(now), maxSleep)
		return time.Time{}
	}
	if busy {
		return time.Time{} // the end of the run wakes us
	}
	if deadline != nil { // the clock that a run begins by is not late
		deadline = ptr.To(*deadline - jitter)
	}
	decision := schedule.Decide(plan, planned, now, deadline)
	round.miss(decision)
	if decision.Next.IsZero() {
		status.NextScheduleTime = nil
	} else {
		status.NextScheduleTime = &metav1.Time{Time: decision.Next}
		round.sleep = max(time.Millisecond, min(decision.Next.Sub(now), maxSleep))
	}
	return decision.Due
}

// isOfOlderSpec reports whether the time that the Cleaner waits for is none of its schedule any more.
func isOfOlderSpec(cleaner *v1alpha1.Cleaner, plan *schedule.Schedule, now time.Time) bool {
	next := cleaner.Status.NextScheduleTime
	return next != nil && cleaner.Status.ObservedGeneration != cleaner.Generation &&
		!plan.Plan(next.Time, now).Equal(next.Time)
}

// planned is the nominal time that the Cleaner waits for.
func (r *CleanerReconciler) planned(cleaner *v1alpha1.Cleaner, plan *schedule.Schedule, now time.Time) time.Time {
	status := &cleaner.Status
	switch {
	case status.NextScheduleTime == nil && status.ObservedGeneration == 0: // never seen before
		return plan.Next(cleaner.CreationTimestamp.Time)
	case status.NextScheduleTime == nil: // suspended or not valid until now: no run takes place for that time
		return plan.Plan(time.Time{}, now)
	case status.ObservedGeneration != cleaner.Generation: // edited: the new schedule counts, but what was due stays due
		kept, anew := plan.Plan(status.NextScheduleTime.Time, now), plan.Next(now)
		if anew.Before(kept) {
			return anew
		}
		return kept
	}
	var last time.Time
	if status.LastRun != nil {
		last = status.LastRun.NominalTime.Time
	}
	return plan.Replan(status.NextScheduleTime.Time, last, now)
}

// miss takes note of the runs that will not take place.
func (r *round) miss(decision schedule.Decision) {
	if decision.Missed > 0 {
		r.missed = strings.TrimSpace(r.missed + " " + missedWords(decision))
		r.misses = append(r.misses, decision)
	}
}

func missedWords(decision schedule.Decision) string {
	if decision.Missed == 0 {
		return ""
	}
	many := fmt.Sprintf("%d runs were", decision.Missed)
	switch {
	case decision.Missed == 1:
		many = "1 run was"
	case decision.Missed >= schedule.MissedMany:
		many = fmt.Sprintf("More than %d runs were", schedule.MissedMany-1)
	}
	if !decision.Due.IsZero() {
		return fmt.Sprintf("%s missed; the latest one, due at %s, starts now.", many, decision.Due.UTC().Format(timeFormat))
	}
	return fmt.Sprintf(
		"%s missed; the latest one, due at %s, could not start within startingDeadlineSeconds.",
		many,
		decision.Late.UTC().Format(timeFormat),
	)
}

// restored reports whether a request is older than the Cleaner: it came with it from an export or a backup, and was for
// its predecessor. Only a request that says when it was made, in RFC 3339, can be recognized.
func restored(cleaner *v1alpha1.Cleaner, requested string) bool {
	asked, err := time.Parse(time.RFC3339, requested)
	return err == nil && asked.Before(cleaner.CreationTimestamp.Add(-clockSkew))
}

// manualTime is the nominal time of a run that was asked for: now, in whole seconds. It names the run, so a request in
// the second of another run, also of one that is due and starts later, waits for the next second. After the clock was
// set back by more than that, it follows the last run.
func manualTime(cleaner *v1alpha1.Cleaner, now time.Time) (nominal time.Time, wait time.Duration) {
	nominal = now.Truncate(time.Second)
	last, next := cleaner.Status.LastRun, cleaner.Status.NextScheduleTime
	if next != nil && nominal.Equal(next.Time) {
		return time.Time{}, nominal.Add(time.Second).Sub(now)
	}
	if last == nil || nominal.After(last.NominalTime.Time) {
		return nominal, 0
	}
	free := last.NominalTime.Add(time.Second)
	if next != nil && free.Equal(next.Time) {
		free = free.Add(time.Second)
	}
	if wait = free.Sub(now); wait <= 2*time.Second {
		return time.Time{}, wait
	}
	return free, 0
}

// start makes a run the active one. It is submitted when the status that says so is written.
func (r *CleanerReconciler) start(cleaner *v1alpha1.Cleaner, round *round, run v1alpha1.ActiveRun) {
	run.Name = v1alpha1.RunName(cleaner.Name, run.NominalTime.Time)
	run.WhileSuspended, run.ServiceAccountRef = cleaner.IsSuspended(), cleaner.Spec.ServiceAccountRef.DeepCopy()
	cleaner.Status.ActiveRun = &run
	setCondition(
		cleaner,
		v1alpha1.ConditionRunSucceeded,
		metav1.ConditionUnknown,
		v1alpha1.ReasonRunning,
		fmt.Sprintf(
			"The run that was %s %s is active, or waits for its turn.",
			dueWords(run.Trigger),
			run.NominalTime.UTC().Format(timeFormat),
		),
	)
	round.submit, round.starts = r.requestFor(cleaner, &run), run.Trigger
}

func dueWords(trigger v1alpha1.RunTrigger) string {
	switch trigger {
	case v1alpha1.TriggerManual:
		return "asked for at"
	case v1alpha1.TriggerApproval:
		return "approved, and due at"
	}
	return "due at"
}
