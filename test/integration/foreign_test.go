// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// k8sCleaner is the field manager of k8s-cleaner's writes.
const k8sCleaner = client.FieldOwner("manager")

// k8sCleanerWrites changes the status as k8s-cleaner does: in a request of its own, with the times as it sees them.
func (b *bench) k8sCleanerWrites(name string, next, last time.Time) {
	b.t.Helper()
	cleaner := b.get(name)
	before := cleaner.DeepCopy()
	cleaner.Status.NextScheduleTime, cleaner.Status.LastRunTime = &metav1.Time{Time: next}, &metav1.Time{Time: last}
	must(b.t, b.user.Status().Patch(b.t.Context(), cleaner, client.MergeFrom(before), k8sCleaner))
}

// writtenAt makes the last write of the status by a field manager one of another time: managedFields count seconds, in which a test does all
// that it does. It looks whether the API server has stored that.
func (b *bench) writtenAt(name string, manager client.FieldOwner, at time.Time) {
	b.t.Helper()
	for range 10 {
		cleaner := b.get(name)
		before := cleaner.DeepCopy()
		setWrittenAt(cleaner, manager, at)
		err := b.user.Patch(b.t.Context(), cleaner, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if apierrors.IsConflict(err) {
			continue
		}
		must(b.t, err)
		if stored := b.get(name); setWrittenAt(stored, manager, at) {
			return
		}
	}
	b.t.Fatalf("the API server does not store the time of %s", manager)
}

// setWrittenAt sets the time, and reports whether it was that already.
func setWrittenAt(cleaner *v1alpha1.Cleaner, manager client.FieldOwner, at time.Time) (was bool) {
	for i := range cleaner.ManagedFields {
		if entry := &cleaner.ManagedFields[i]; entry.Subresource == "status" && entry.Manager == string(manager) {
			was = entry.Time.Unix() == at.Unix()
			entry.Time = &metav1.Time{Time: at}
		}
	}
	return was
}

// TestOtherControllerStillRuns: k8s-cleaner runs a Cleaner that the operator has taken over.
func TestOtherControllerStillRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete)).slim()
	l.startExecutor()
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	b.k8sCleanerWrites(l.now.Name, l.first(), time.Now())
	b.writtenAt(l.now.Name, v1alpha1.StatusManager, time.Now().Add(-2*time.Hour))
	b.writtenAt(l.now.Name, k8sCleaner, time.Now().Add(-time.Hour))
	l.ask("now")
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "False", v1alpha1.ReasonForeignController, `It does not run: k8s-cleaner (field manager "manager") wrote the status of this Cleaner at `, "Remove that controller.")
	wantNotStalled(t, l.now)
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed, "The run that was asked for did not begin: It does not run: k8s-cleaner")
	if l.again < v1alpha1.ForeignQuiet {
		t.Fatalf("it looks again after %s", l.again)
	}
	before := b.requests.len()
	l.step()
	if writes := b.writes(before); len(writes) > 0 {
		t.Fatalf("it writes although nothing happened: %v", writes)
	}
	l.wantActive(time.Time{})
	l.at(takenOver())
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	l.ask("again")
	l.step()
	l.finish()
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, "1 deleted")
}

// TestOtherControllerAnswers: the operator moves the time of the next run, and k8s-cleaner corrects it. That is how it shows that it runs,
// long before the run is due.
func TestOtherControllerAnswers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	due := time.Now().UTC().Truncate(time.Hour).Add(12 * time.Hour)
	l := leftByK8sCleaner(b, due, func(c *v1alpha1.Cleaner) { c.Spec.Schedule = fmt.Sprintf("0 %d * * *", due.Hour()) })
	l.slim().step()
	l.wantNext(due.Add(time.Second))
	b.k8sCleanerWrites(l.now.Name, due, time.Now())
	l.at(takenOver())
	wantCondition(t, l.now, v1alpha1.ConditionReady, "False", v1alpha1.ReasonForeignController)
	l.wantNext(due.Add(time.Second))
	b.writtenAt(l.now.Name, k8sCleaner, time.Now().Add(-time.Hour)) // and now it is gone
	l.at(takenOver().Add(time.Minute))
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	l.wantNext(due)
}

// TestOtherControllerWritesDuringARun: nothing is touched by a run that began before k8s-cleaner wrote the status.
func TestOtherControllerWritesDuringARun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.step()
	b.beforeFirst(http.MethodGet, "/configmaps", func() { b.k8sCleanerWrites(l.now.Name, l.first(), time.Now()) })
	wantRun(t, b.run(l.now), v1alpha1.ReasonForeignController, "Nothing was touched: It does not run: k8s-cleaner")
	b.wantNames("old")
}

// TestOtherControllerWroteBeforeTheRun: a run that the reconciler had submitted already does not begin.
func TestOtherControllerWroteBeforeTheRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.step()
	b.k8sCleanerWrites(l.now.Name, l.first(), time.Now())
	request := run.Request{Cleaner: l.now.Name, Nominal: b.clock.Now().Truncate(time.Second), Trigger: v1alpha1.TriggerSchedule}
	b.wantNoRecord(request, "It does not run: k8s-cleaner")
	b.wantNames("old")
}

// TestRunThatWasCutOffIsNotResumedBesideAnotherController: k8s-cleaner was started while the operator was away.
func TestRunThatWasCutOffIsNotResumedBesideAnotherController(t *testing.T) {
	t.Parallel()
	l, next := cutOffRun(t, 2, http.MethodDelete)
	l.k8sCleanerWrites(l.now.Name, l.first(), time.Now())
	record := next.goOn(time.Now())
	wantRun(t, record, v1alpha1.ReasonForeignController, "the run was not resumed: It does not run: k8s-cleaner", "0 deleted, 2 left alone.")
	wantCondition(t, next.now, v1alpha1.ConditionReady, "False", v1alpha1.ReasonForeignController)
	l.wantNames("old-0", "old-1")
}
