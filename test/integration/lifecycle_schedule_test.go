// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const day = 24 * time.Hour

func scheduled(schedule string) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) { c.Spec.Schedule = schedule }
}

func TestFirstRunIsAtTheNextTickAfterCreation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	first := l.first()
	l.step()
	l.wantNext(first)
	l.wantActive(time.Time{})
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled, "It runs every day at 03:00 UTC.")

	l.at(first.Add(-time.Second)) // not early, not even by a second
	l.wantActive(time.Time{})
	l.wantRequeue(time.Second)

	l.at(first)
	l.wantActive(first)
	l.wantNext(first.Add(day))
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "Unknown", v1alpha1.ReasonRunning)
	l.startExecutor()
	l.finish()
	l.wantActive(time.Time{})
	l.wantNext(first.Add(day))
	l.wantRecords(first)
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted)

	l.at(first.Add(time.Hour)) // nothing more until the next tick
	l.at(first.Add(day - time.Second))
	l.wantRecords(first)
	l.at(first.Add(day))
	l.finish()
	l.wantRecords(first, first.Add(day))
	l.wantEvents("Completed", "0 objects") // the second run finds nothing again
}

func TestRequeueAfter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	first := l.first()
	for before, want := range map[time.Duration]time.Duration{
		5 * time.Minute:              5 * time.Minute,
		1500 * time.Millisecond:      1500 * time.Millisecond,
		10 * time.Minute:             10 * time.Minute,
		10*time.Minute + time.Second: 10 * time.Minute, // a clock that was set is noticed
	} {
		l.at(first.Add(-before))
		l.wantRequeue(want)
	}
	l.at(first)
	l.wantRequeue(10 * time.Minute)
	l.at(first.Add(day)) // the next tick comes while the run waits: the end of the run wakes
	l.wantRequeue(0)
}

func TestClockSetBackRunsNothingAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	l.startExecutor()
	first := l.first()
	l.at(first)
	l.finish()
	l.at(first.Add(-time.Hour))
	l.at(first)
	l.wantNext(first.Add(day))
	l.wantRecords(first)
}

func TestSpecEditRecomputesTheNextTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	first := l.first()
	l.at(first.Add(-time.Hour))
	l.change(scheduled("30 4 * * *"))
	l.step()
	l.wantNext(first.Add(90 * time.Minute))
	l.change(func(c *v1alpha1.Cleaner) { c.Spec.TimeZone = ptr.To("Asia/Kolkata") }) // 04:30 there is 23:00 UTC
	l.step()
	l.wantNext(first.Add(20 * time.Hour))
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled, "every day at 04:30 Asia/Kolkata")
	l.at(first.Add(90 * time.Minute)) // the old times mean nothing any more
	l.wantActive(time.Time{})
}

func TestEditThatKeepsTheScheduleKeepsTheDueTick(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	first := l.first()
	l.step()
	l.clock.SetTime(first.Add(time.Second))
	l.change(func(c *v1alpha1.Cleaner) { c.Spec.OccurrenceThreshold = ptr.To[int32](2) })
	l.step()
	l.wantActive(first)
	l.wantNext(first.Add(day))
}

func TestEditOfTheScheduleDropsTheDueTick(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	first := l.first()
	l.step()
	l.clock.SetTime(first.Add(time.Second))
	l.change(scheduled("0 4 * * *"))
	l.step()
	l.wantActive(time.Time{})
	l.wantNext(first.Add(time.Hour))
}

func TestIntervalIsMeasuredFromTheLastNominalTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan, scheduled("@every 1h30m")))
	l.startExecutor()
	first := l.now.CreationTimestamp.Add(90 * time.Minute)
	l.step()
	l.wantNext(first)
	l.at(first.Add(10 * time.Minute)) // a run that starts late does not move the next one
	l.wantActive(first)
	l.finish()
	l.wantNext(first.Add(90 * time.Minute))
}

func TestTimeZones(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string]time.Duration{
		"Asia/Kolkata":    -5*time.Hour - 30*time.Minute,
		"America/Phoenix": 7 * time.Hour,
		"Etc/UTC":         0,
	} {
		t.Run(zone, func(t *testing.T) {
			b := newBench(t)
			l := b.follow(b.cleaner(v1alpha1.ActionScan, func(c *v1alpha1.Cleaner) { c.Spec.TimeZone = ptr.To(zone) }))
			next := l.first().Add(want)
			if !next.After(l.now.CreationTimestamp.Time) {
				next = next.Add(day)
			} else if before := next.Add(-day); before.After(l.now.CreationTimestamp.Time) {
				next = before
			}
			l.step()
			l.wantNext(next)
			l.at(next)
			l.wantActive(next)
		})
	}
}

// TestSpringDayInNewYork runs a schedule whose time of day the clocks skip: 02:30 is not, so it runs when they show 03:00.
func TestSpringDayInNewYork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan, scheduled("30 2 * * *"), func(c *v1alpha1.Cleaner) {
		c.Spec.TimeZone, c.Spec.Suspend = ptr.To("America/New_York"), ptr.To(true)
	}))
	l.startExecutor()
	spring := time.Date(l.now.CreationTimestamp.Year()+1, time.March, 8, 0, 0, 0, 0, time.UTC) // the second Sunday
	for spring.Weekday() != time.Sunday {
		spring = spring.Add(day)
	}
	l.at(spring.Add(-day))
	l.suspend(false)
	l.step()
	ticks := []time.Time{
		spring.Add(-day + 7*time.Hour + 30*time.Minute), // 02:30 EST
		spring.Add(7 * time.Hour),                       // 03:00 EDT, which is where 02:00 EST was to be
		spring.Add(day + 6*time.Hour + 30*time.Minute),  // 02:30 EDT
	}
	for _, tick := range ticks {
		l.wantNext(tick)
		l.at(tick.Add(-time.Second))
		l.wantActive(time.Time{})
		l.at(tick)
		l.finish()
	}
	l.wantRecords(ticks...)
}
