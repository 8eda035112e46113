// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// recreate deletes the Cleaner and creates another one of its name, all before the operator looks.
func (l *life) recreate(action v1alpha1.Action) *life {
	l.t.Helper()
	must(l.t, l.user.Delete(l.t.Context(), l.now))
	return l.follow(l.cleaner(action, func(c *v1alpha1.Cleaner) { c.Name = l.now.Name }))
}

// TestCreatedAgainWhileTheOldOnesRunWaits: the first run of the new one is at its own next tick.
func TestCreatedAgainWhileTheOldOnesRunWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	before := b.follow(b.cleaner(v1alpha1.ActionDelete))
	before.ask("now")
	before.step()
	again := before.recreate(v1alpha1.ActionDelete)
	again.step()
	again.wantActive(time.Time{})
	again.wantNext(again.first())
	b.startExecutor()
	b.runNow(b.cleaner(v1alpha1.ActionScan)) // comes after it in the queue
	before.wantRecords()
	again.wantRecords()
	if !b.exists("old") {
		t.Fatal("the old Cleaner's request made the new one run")
	}
}

// TestCreatedAgainWhileTheOldOneRuns: the run of a deleted Cleaner stops before its next object, whatever follows it.
func TestCreatedAgainWhileTheOldOneRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", inHand+4)
	before := b.follow(b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationCleanerReport)))
	b.startExecutor()
	at := newBarrier(t)
	b.holdRequests(at, http.MethodDelete, "/configmaps/old-")
	before.ask("now")
	before.step()
	at.await(inHand)
	again := before.recreate(v1alpha1.ActionScan)
	again.step()
	at.open()
	again.finish()
	record := before.records()[0]
	wantInterrupted(t, b, &record, "the Cleaner was deleted")
	before.wantNoOrphan()

	if again.now.Status.LastRun != nil || again.now.Status.ActiveRun != nil {
		t.Fatalf("the new Cleaner has the old one's run in its status: %+v", again.now.Status)
	}
	again.at(again.first())
	again.finish()
	again.wantRecords(again.first())
	wantCounts(t, &again.records()[0], v1alpha1.RunCounts{Considered: 4, Matched: 4})
}

// TestCreatedAgainInTheSameSecond meets the record of the earlier Cleaner: a name is one run's only.
func TestCreatedAgainInTheSameSecond(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	b.startExecutor()
	before := b.follow(b.cleaner(v1alpha1.ActionScan))
	before.ask("now")
	before.step()
	before.finish()
	again := before.recreate(v1alpha1.ActionDelete)
	again.ask("now")
	again.step()
	again.finish()
	wantCondition(t, again.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed,
		"The run could not begin, nothing was touched", "from a deleted Cleaner of the same name")
	if !b.exists("old") {
		t.Fatal("a run without a record deleted something")
	}
	again.ask("once more")
	again.at(again.clock.Now().Add(time.Second))
	again.finish()
	wantCondition(t, again.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, "1 deleted")
}
