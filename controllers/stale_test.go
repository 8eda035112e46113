// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/schedule"
)

// TestRequestThatWaitedForATakenOverRun is answered, although it is older than this operator. All times are minutes
// after the beginning of the run.
func TestRequestThatWaitedForATakenOverRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		asked, begun, ended int
		// due is when the run was due: it may have waited for its turn until 0.
		due int
		// another is true if another run was due first when the run ended.
		another bool
		runs    bool
	}{
		"it waited":                     {asked: 5, begun: 25, ended: 40, runs: true},
		"it waited for another as well": {asked: 5, begun: 25, ended: 40, another: true, runs: true},
		"it is from before the run":     {asked: -5, begun: 25, ended: 40},
		"the run waited for its turn":   {asked: -5, due: -10, begun: 25, ended: 40, runs: true},
		"the run had been missed":       {asked: -300, due: -600, begun: -1, ended: 5},
		"it is from after the run":      {asked: 15, begun: 35, ended: 10},
		"the run had ended long ago":    {asked: 5, begun: 50, ended: 10},
		"the run had ended just now":    {asked: 5, begun: 30, ended: 28, runs: true},
		"no operator was there":         {asked: 5, begun: 180, ended: 185},
	} {
		at := func(minutes int) time.Time {
			return time.Unix(1_800_000_000, 0).UTC().Add(time.Duration(minutes) * time.Minute)
		}
		clock := clocktesting.NewFakePassiveClock(at(test.begun))
		r := assessor(nil)
		r.Clock, r.Weight = clock, func(*v1alpha1.Cleaner) int64 { return 0 }
		r.begun()
		clock.SetTime(at(max(test.begun, test.ended)))
		cleaner := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{Suspend: ptr.To(true)}} // so that no tick is due
		cleaner.Annotations = map[string]string{v1alpha1.RunRequestedAtAnnotation: at(test.asked).Format(time.RFC3339)}
		ended := &v1alpha1.CleanerRun{Status: v1alpha1.CleanerRunStatus{CompletionTime: ptr.To(metav1.NewTime(at(test.ended)))}}
		ended.CreationTimestamp, ended.Spec.NominalTime = metav1.NewTime(at(0)), metav1.NewTime(at(test.due))
		found := &round{memory: &memory{}, ended: ended}
		if test.another {
			cleaner.Status.ActiveRun = &v1alpha1.ActiveRun{}
			r.decide(cleaner, &schedule.Schedule{}, found)
			cleaner.Status.ActiveRun, found.ended = nil, nil
		}
		r.decide(cleaner, &schedule.Schedule{}, found)
		if runs := cleaner.Status.ActiveRun != nil; runs != test.runs {
			t.Errorf("%s: it runs: %t, want %t", name, runs, test.runs)
		}
	}
}

// TestRequestTakesItsTurn where runs take longer than their period: it comes after a scheduled run has ended, and then
// the run that is due by the schedule.
func TestRequestTakesItsTurn(t *testing.T) {
	t.Parallel()
	plan, err := schedule.Parse("* * * * *", "")
	if err != nil {
		t.Fatal(err)
	}
	planned := plan.Next(time.Unix(1_800_000_000, 0))
	for name, test := range map[string]struct {
		ended v1alpha1.RunTrigger // of the run that has just ended, if one has
		stale bool
		want  v1alpha1.RunTrigger
	}{
		"after a scheduled run":           {ended: v1alpha1.TriggerSchedule, want: v1alpha1.TriggerManual},
		"after one that was asked for":    {ended: v1alpha1.TriggerManual, want: v1alpha1.TriggerSchedule},
		"when no run was active":          {want: v1alpha1.TriggerSchedule},
		"nobody expects the run any more": {ended: v1alpha1.TriggerSchedule, stale: true, want: v1alpha1.TriggerSchedule},
	} {
		now := planned.Add(10 * time.Second)
		r := assessor(nil)
		r.Clock, r.Weight = clocktesting.NewFakePassiveClock(now), func(*v1alpha1.Cleaner) int64 { return 0 }
		cleaner := &v1alpha1.Cleaner{}
		cleaner.Status.NextScheduleTime = ptr.To(metav1.NewTime(planned))
		asked := now.Add(-time.Minute)
		if test.stale {
			asked = now.Add(-time.Hour)
		}
		cleaner.Annotations = map[string]string{v1alpha1.RunRequestedAtAnnotation: asked.Format(time.RFC3339)}
		found := &round{memory: &memory{}}
		if test.ended != "" {
			found.ended = &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Trigger: test.ended}}
		}
		r.decide(cleaner, plan, found)
		if got := cleaner.Status.ActiveRun.Trigger; got != test.want {
			t.Errorf("%s: the trigger is %s, want %s", name, got, test.want)
		}
		if due := cleaner.Status.NextScheduleTime.Equal(ptr.To(metav1.NewTime(planned))); due != (test.want == v1alpha1.TriggerManual) {
			t.Errorf("%s: the next run is due at %s", name, cleaner.Status.NextScheduleTime)
		}
	}
}

// TestForgottenRun: a run that was asked for and had not begun when the operator went away does not begin days later.
func TestForgottenRun(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0).UTC()
	r := assessor(nil)
	r.Clock = clocktesting.NewFakePassiveClock(now)
	for _, test := range []struct {
		trigger v1alpha1.RunTrigger
		age     time.Duration
		want    bool
	}{
		{v1alpha1.TriggerManual, requestLife, false},
		{v1alpha1.TriggerManual, requestLife + time.Second, true},
		{v1alpha1.TriggerSchedule, 24 * time.Hour, false},
	} {
		active := &v1alpha1.ActiveRun{Trigger: test.trigger, NominalTime: metav1.NewTime(now.Add(-test.age))}
		if got := r.isForgotten(active); got != test.want {
			t.Errorf("%s, %s ago: %t", test.trigger, test.age, got)
		}
	}
}
