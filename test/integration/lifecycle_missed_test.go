// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"math"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func deadline(seconds int64) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) { c.Spec.StartingDeadlineSeconds = ptr.To(seconds) }
}

func TestMissedTickRunsOnceAtStartUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	first := l.first()
	l.step()
	l.clock.SetTime(first.Add(9 * time.Hour))

	l = l.successor()
	l.startExecutor()
	l.step()
	l.wantActive(first)
	l.wantNext(first.Add(day))
	l.finish()
	l.step()
	l.wantRecords(first)
	l.wantEvents("Completed", "") // one tick that runs late is no miss
}

func TestOnlyTheLatestMissedTickRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	first := l.first()
	l.step()
	l.clock.SetTime(first.Add(3*day + time.Hour))

	l = l.successor()
	l.startExecutor()
	l.step()
	l.wantActive(first.Add(3 * day))
	l.wantEvents("MissedRun", "3 runs were missed; the latest one, due at "+first.Add(3*day).Format(time.RFC3339)+", starts now.")
	l.finish()
	l.wantNext(first.Add(4 * day))
	l.wantRecords(first.Add(3 * day))
	l.wantEvents("Completed", "")
}

// TestMoreThan100MissedRuns is an every-minute Cleaner after its operator was down for long.
func TestMoreThan100MissedRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		passed int
		want   string
	}{
		"one":          {2, "1 run was missed; the latest one"},
		"a hundred":    {101, "100 runs were missed; the latest one"},
		"more":         {102, "More than 100 runs were missed; the latest one"},
		"a whole year": {365 * 24 * 60, "More than 100 runs were missed; the latest one"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			l := b.follow(b.cleaner(v1alpha1.ActionScan, scheduled("* * * * *")))
			l.step()
			first := l.now.CreationTimestamp.Truncate(time.Minute).Add(time.Minute)
			l.wantNext(first)
			latest := first.Add(time.Duration(c.passed-1) * time.Minute)
			l = l.successor()
			l.startExecutor()
			l.at(latest.Add(30 * time.Second))
			l.wantActive(latest)
			l.wantNext(latest.Add(time.Minute))
			l.wantEvents("MissedRun", c.want)
			l.finish()
			l.at(latest.Add(time.Minute)) // and it goes on as if nothing had been
			l.finish()
			l.wantRecords(latest, latest.Add(time.Minute))
			l.wantEvents("Completed", "") // the second run finds nothing again
		})
	}
}

// TestStartingDeadline restarts the operator at noon: a run that was due at three is late.
func TestStartingDeadline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		late time.Duration
		runs bool
	}{
		"restart at noon":       {9 * time.Hour, false},
		"just too late":         {10*time.Minute + time.Second, false},
		"just in time":          {10 * time.Minute, true},
		"in time after a miss":  {day + time.Minute, true},
		"late again, next week": {7*day + time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			l := b.follow(b.cleaner(v1alpha1.ActionScan, deadline(600)))
			first := l.first()
			l.step()
			l = l.successor()
			l.at(first.Add(c.late))
			latest := first.Add(c.late.Truncate(day))
			l.wantNext(latest.Add(day))
			if c.runs {
				l.wantActive(latest)
				return
			}
			l.wantActive(time.Time{})
			l.wantEvents("MissedRun", "missed; the latest one, due at "+latest.Format(time.RFC3339)+", could not start within startingDeadlineSeconds.")
			l.step() // it is said once
			l.wantEvents()
		})
	}
}

// TestStartingDeadlineOfAges is more seconds than a time.Duration holds.
func TestStartingDeadlineOfAges(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan, deadline(math.MaxInt64)))
	l.at(l.first().Add(time.Hour))
	l.wantActive(l.first())
}

// TestStartingDeadlineOfNoTime: no run starts at its very time, and k8s-cleaner did not enforce the field.
func TestStartingDeadlineOfNoTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan, deadline(0)))
	first := l.first()
	l.startExecutor()
	l.step()
	l.at(first.Add(3 * time.Second))
	l.finish()
	l.wantRecords(first)
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted)
}

func TestMissedRunsOfADeadlineAreCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan, deadline(0)))
	first := l.first()
	l.step()
	l.at(first.Add(2*day + 11*time.Second))
	l.wantActive(time.Time{})
	l.wantEvents("MissedRun", "3 runs were missed; the latest one, due at "+first.Add(2*day).Format(time.RFC3339)+", could not start")
}

// TestStartingDeadlineOfARunThatWasNotBegun is a run that was due, and whose operator went away before it began: at noon it
// is as late as any other.
func TestStartingDeadlineOfARunThatWasNotBegun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan, deadline(600)))
	first := l.first()
	l.at(first)
	l.wantActive(first)
	l = l.successor()
	l.startExecutor()
	l.at(first.Add(9 * time.Hour))
	l.wantActive(time.Time{})
	l.wantNext(first.Add(day))
	l.wantRecords()
	l.wantEvents("MissedRun", "1 run was missed; the latest one, due at "+first.Format(time.RFC3339)+", could not start within startingDeadlineSeconds.")
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed, "did not begin", "startingDeadlineSeconds")
}

// TestTickDuringARun lets days pass while one run goes on.
func TestTickDuringARun(t *testing.T) {
	t.Parallel()
	at := newBarrier(t)
	b := newBench(t, at.atBeginning)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	l.startExecutor()
	first := l.first()
	l.at(first)
	at.await(1)
	l.at(first.Add(day)) // no second run beside it
	l.wantActive(first)
	l.at(first.Add(2*day + time.Minute))
	l.wantActive(first)
	l.wantEvents()

	at.open()
	l.finish()
	l.wantEvents("Completed", "", "MissedRun", "1 run was missed; the latest one, due at "+first.Add(2*day).Format(time.RFC3339)+", starts now.")
	l.finish()
	l.step()
	l.wantNext(first.Add(3 * day))
	l.wantRecords(first, first.Add(2*day))
	l.wantActive(time.Time{})
}
