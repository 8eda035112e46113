// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// inHand is how many objects a run acts on at once.
const inHand = 16

func TestSuspend(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	l.startExecutor()
	first := l.first()
	l.step()
	l.suspend(true)
	l.step()
	l.wantNext(time.Time{})
	l.wantRequeue(0)
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonSuspended,
		"It is suspended (spec.suspend). When it is not suspended any more: It runs every day at 03:00 UTC.")
	wantNotStalled(t, l.now)
	l.at(first.Add(2*day + time.Hour)) // ticks pass
	l.wantActive(time.Time{})

	l.suspend(false)
	l.step()
	l.wantActive(time.Time{}) // what passed is not made up for
	l.wantNext(first.Add(3 * day))
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	l.wantEvents()
	l.at(first.Add(3 * day))
	l.finish()
	l.wantRecords(first.Add(3 * day))
}

func TestSuspendedFromTheBeginning(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan, func(c *v1alpha1.Cleaner) { c.Spec.Suspend = new(true) }))
	first := l.first()
	l.at(first.Add(day + time.Hour))
	l.wantActive(time.Time{})
	l.wantNext(time.Time{})
	l.suspend(false)
	l.step()
	l.wantActive(time.Time{})
	l.wantNext(first.Add(2 * day))
}

// TestSuspendedIsReadyWithoutItsKind: a GitOps tool need not wait for what a suspended Cleaner does not use.
func TestSuspendedIsReadyWithoutItsKind(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan, func(c *v1alpha1.Cleaner) {
		c.Spec.Suspend = new(true)
		c.Spec.ResourcePolicySet.ResourceSelectors[0] = v1alpha1.ResourceSelector{Group: "example.org", Version: "v1", Kind: "Absent"}
	}))
	for range 2 { // the second time, nothing has changed
		l.step()
		wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonSuspended, "it is suspended, and could not run if it were not: ", "Absent")
		wantNotStalled(t, l.now)
	}
	l.suspend(false)
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "False", v1alpha1.ReasonUnknownKind)
}

func TestSuspendWhileARunWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	first := l.first()
	l.at(first)
	l.wantActive(first)
	l.suspend(true)
	l.step()
	l.wantActive(time.Time{})
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed,
		"The run of "+first.Format(time.RFC3339)+" did not begin, because the Cleaner was suspended.")

	other := b.cleaner(v1alpha1.ActionScan) // comes after it in the queue
	l.startExecutor()
	b.runNow(other)
	l.wantRecords()
	if !b.exists("old") {
		t.Fatal("the suspended Cleaner deleted something")
	}
}

// TestSuspendWhileARunStarts is a run that has left the queue and not looked at its Cleaner yet.
func TestSuspendWhileARunStarts(t *testing.T) {
	t.Parallel()
	at := newBarrier(t)
	b := newBench(t, at.atBeginning)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	l.at(l.first())
	at.await(1)
	l.suspend(true) // nothing was reconciled yet
	at.open()
	l.finish()
	wantRun(t, &l.records()[0], v1alpha1.ReasonFailed, "The Cleaner was suspended before the run began.")
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed, "suspended before the run began")
	if !b.exists("old") {
		t.Fatal("the suspended Cleaner deleted something")
	}
}

func TestSuspendStopsTheRunBeforeTheNextObject(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", inHand+4)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	at := newBarrier(t)
	b.holdRequests(at, http.MethodDelete, "/configmaps/old-")
	l.at(l.first())
	at.await(inHand)
	l.suspend(true)
	l.step()
	l.wantNext(time.Time{})
	if l.now.Status.ActiveRun == nil {
		t.Fatal("the run is over before it has returned")
	}
	at.open()
	l.finish()

	record := l.records()[0]
	wantInterrupted(t, b, &record, "the Cleaner was suspended")
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed,
		"The run was stopped: the Cleaner was suspended.", "16 deleted, 4 left alone.")
	if l.now.Status.LastRun.Acted != inHand || l.now.Status.FailureMessage == nil {
		t.Fatalf("status.lastRun is %+v", l.now.Status.LastRun)
	}
	l.suspend(false)
	l.step()
	l.wantActive(time.Time{}) // the rest is for the next run
	l.wantNext(l.first().Add(day))
}

// TestScanStopsTheRunBeforeTheNextObject: who changes the action to Scan wants nothing more touched. Any other edit is for the next run.
func TestScanStopsTheRunBeforeTheNextObject(t *testing.T) {
	t.Parallel()
	until := metav1.NewTime(time.Now().Add(1000 * day).UTC().Truncate(time.Second))
	for name, c := range map[string]struct {
		edit func(*v1alpha1.Cleaner)
		then string
	}{
		"action":    {func(c *v1alpha1.Cleaner) { c.Spec.Action = ptr.To(v1alpha1.ActionScan) }, "4 of 4 objects matched."},
		"scanUntil": {func(c *v1alpha1.Cleaner) { c.Spec.ScanUntil = &until }, "4 of 4 objects matched; nothing was touched, because it only reports until "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMaps(b.namespace, "old", inHand+4)
			l := b.follow(b.cleaner(v1alpha1.ActionDelete))
			l.startExecutor()
			at := newBarrier(t)
			b.holdRequests(at, http.MethodDelete, "/configmaps/old-")
			l.at(l.first())
			at.await(inHand)
			l.change(c.edit)
			l.step()
			l.wantNext(l.first().Add(day)) // the schedule goes on
			at.open()
			l.finish()
			wantInterrupted(t, b, &l.records()[0], "the Cleaner was changed to only report")
			wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed,
				"The run was stopped: the Cleaner was changed to only report.", "16 deleted, 4 left alone.")
			l.at(l.first().Add(day))
			l.finish()
			wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, c.then)
		})
	}
}

// TestScanWhileARunWaits lets the run begin, as a Scan.
func TestScanWhileARunWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.at(l.first())
	l.change(func(c *v1alpha1.Cleaner) { c.Spec.Action = ptr.To(v1alpha1.ActionScan) })
	l.step()
	l.wantActive(l.first())
	l.startExecutor()
	l.finish()
	wantRun(t, &l.records()[0], v1alpha1.ReasonCompleted, "1 of 1 object matched.")
	l.wantRecords(l.first())
}

// wantInterrupted fails the test unless the record, of a run that was stopped with the first objects in hand, lists these as
// deleted and the others as interrupted for the cause, and just these others exist.
func wantInterrupted(t *testing.T, b *bench, record *v1alpha1.CleanerRun, cause string) {
	t.Helper()
	if record.Status.Phase != v1alpha1.RunInterrupted {
		t.Fatalf("the phase is %s: %s", record.Status.Phase, record.Status.Message)
	}
	wantCounts(t, record, v1alpha1.RunCounts{Considered: inHand + 4, Matched: inHand + 4, Acted: inHand, Skipped: 4})
	for _, object := range record.Status.Objects {
		want := v1alpha1.OutcomeDeleted
		if b.exists(object.Name) {
			want = v1alpha1.OutcomeInterrupted
			wantTexts(t, "the reason of "+object.Name, object.Reason, "the run was stopped before it reached this object: "+cause)
		}
		if object.Outcome != want {
			t.Errorf("%s is %s, want %s", object.Name, object.Outcome, want)
		}
	}
	if left := len(b.names(b.namespace)); left != 4 {
		t.Errorf("%d objects are left, want 4", left)
	}
}
