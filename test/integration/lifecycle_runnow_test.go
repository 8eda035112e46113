// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func (l *life) wantHandled(want string) {
	l.t.Helper()
	if got := l.now.Status.LastHandledRunRequest; got != want {
		l.t.Fatalf("status.lastHandledRunRequest is %q, want %q", got, want)
	}
}

func TestManualRunsAreRecorded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	now := l.first().Add(-time.Hour)
	l.ask("now")
	l.at(now.Add(300 * time.Millisecond))
	l.wantHandled("now")
	l.wantNext(l.first()) // the schedule is as it was
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "Unknown", v1alpha1.ReasonRunning)
	l.finish()
	l.wantRecords(now) // the nominal time is when it was accepted
	record := l.records()[0]
	wantRun(t, &record, v1alpha1.ReasonCompleted, "; 1 deleted.")
	if record.Spec.Trigger != v1alpha1.TriggerManual || l.now.Status.LastRun.Trigger != v1alpha1.TriggerManual {
		t.Fatalf("the triggers are %s and %s", record.Spec.Trigger, l.now.Status.LastRun.Trigger)
	}
	if !l.now.Status.LastRunTime.Time.Equal(now) {
		t.Fatalf("status.lastRunTime is %s", l.now.Status.LastRunTime)
	}
	l.wantEvents("Completed", "1 deleted")

	l.step() // the same value asks for nothing more
	l.wantActive(time.Time{})
	l.wantRecords(now)
}

// TestRunsNameTheirRequest: each run says which request it answers, if any, so that who asked finds the record of it.
func TestRunsNameTheirRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	l.startExecutor()
	want := func(n int, request string) {
		t.Helper()
		if active := l.now.Status.ActiveRun; active == nil || active.RunRequest != request {
			t.Fatalf("status.activeRun is %+v, want request %q", active, request)
		}
		l.finish()
		if records := l.records(); len(records) != n || records[n-1].Spec.RunRequest != request {
			t.Fatalf("the records are %+v, want request %q in the last of %d", records, request, n)
		}
		if got := l.now.Status.LastRun.RunRequest; got != request {
			t.Fatalf("status.lastRun.runRequest is %q, want %q", got, request)
		}
	}
	now := l.first().Add(-time.Hour)
	l.ask("one")
	l.at(now)
	want(1, "one")
	l.at(l.first())
	want(2, "")
	long := letters(300)
	l.ask(long)
	l.at(l.first().Add(time.Minute))
	if cut := v1alpha1.CutRunRequest(long); len(cut) > 256 || cut == v1alpha1.CutRunRequest(long+"b") || cut != v1alpha1.CutRunRequest(cut) {
		t.Fatalf("a long request is cut to %q", cut)
	}
	want(3, v1alpha1.CutRunRequest(long))
	l.step() // what is cut is not asked for again
	l.wantActive(time.Time{})
}

// TestTwoRequestsInOneSecond are two runs: each has a nominal time of its own.
func TestTwoRequestsInOneSecond(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	l.startExecutor()
	now := l.first().Add(-time.Hour)
	l.ask("one")
	l.at(now)
	l.finish()
	l.ask("two")
	l.step()
	l.wantHandled("one")
	l.wantRequeue(time.Second) // a nominal time is never in the future
	l.at(now.Add(time.Second))
	l.finish()
	l.wantHandled("two")
	l.wantRecords(now, now.Add(time.Second))
}

func TestRunNowWhileSuspended(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) { c.Spec.Suspend = new(true) }))
	l.startExecutor()
	now := l.first().Add(time.Hour)
	l.ask("now")
	l.at(now)
	l.wantHandled("now")
	l.finish()
	l.wantRecords(now)
	l.wantNext(time.Time{})
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonSuspended)
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, "1 deleted")
}

// TestSuspendingAgainDoesNotStopARunThatWasAskedForWhileSuspended: only a change from running to suspended stops.
func TestSuspendingAgainDoesNotStopARunThatWasAskedForWhileSuspended(t *testing.T) {
	t.Parallel()
	at := newBarrier(t)
	b := newBench(t, at.atBeginning)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) { c.Spec.Suspend = new(true) }))
	l.startExecutor()
	l.ask("now")
	l.step()
	at.await(1)
	l.step()
	at.open()
	l.finish()
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, "1 deleted")
}

func TestRunNowDuringARunQueuesExactlyOneMore(t *testing.T) {
	t.Parallel()
	at := newBarrier(t)
	b := newBench(t, at.atBeginning)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	l.startExecutor()
	now := l.first().Add(-time.Hour)
	l.ask("one")
	l.at(now)
	at.await(1)
	for _, value := range []string{"two", "three", "four"} {
		l.ask(value)
		l.step()
		l.wantHandled("one")
		l.wantActive(now)
	}
	at.open()
	l.clock.SetTime(now.Add(time.Minute))
	l.finish()
	l.wantHandled("four")
	l.wantActive(now.Add(time.Minute))
	l.finish()
	l.step()
	l.wantActive(time.Time{})
	l.wantRecords(now, now.Add(time.Minute))
}

// TestRunNowBesideADueTick: the schedule goes first, and both run.
func TestRunNowBesideADueTick(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	l.startExecutor()
	first := l.first()
	l.ask("now")
	l.at(first.Add(time.Minute))
	l.wantActive(first)
	l.wantHandled("")
	l.finish()
	l.wantActive(first.Add(time.Minute))
	l.wantHandled("now")
	l.finish()
	l.wantRecords(first, first.Add(time.Minute))
}

// TestRunNowOfAnInvalidCleaner answers with a condition, once.
func TestRunNowOfAnInvalidCleaner(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan, evaluate("function evaluate(")))
	l.startExecutor()
	l.ask("now")
	l.step()
	l.wantHandled("now")
	l.wantActive(time.Time{})
	wantCondition(t, l.now, v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidExpression)
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed,
		"The run that was asked for did not begin: resourceSelectors[0].evaluate: ")

	l.change(evaluate(matchStale)) // the answer was given: it does not run by itself now
	l.step()
	l.wantActive(time.Time{})
	l.ask("again")
	l.step()
	l.finish()
	l.wantHandled("again")
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted)
}
