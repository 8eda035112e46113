// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// leftByK8sCleaner is a Cleaner as k8s-cleaner left it: with its finalizers, and a status in which a run was due.
func leftByK8sCleaner(b *bench, due time.Time, edit ...func(*v1alpha1.Cleaner)) *life {
	b.t.Helper()
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, append(edit, func(c *v1alpha1.Cleaner) {
		c.Finalizers = []string{v1alpha1.LegacyFinalizer, v1alpha1.Finalizer}
	})...))
	l.now.Status.NextScheduleTime = &metav1.Time{Time: due}
	l.now.Status.LastRunTime = &metav1.Time{Time: due.Add(-day)}
	l.now.Status.FailureMessage = new("it failed then")
	must(b.t, b.user.Status().Update(b.t.Context(), l.now, k8sCleaner))
	b.writtenAt(l.now.Name, k8sCleaner, time.Now().Add(-time.Hour))
	return l
}

// lastDue is the last tick of the schedule "0 3 * * *" before a time.
func lastDue(before time.Time) time.Time {
	due := before.Truncate(day).Add(3 * time.Hour)
	if due.After(before) {
		return due.Add(-day)
	}
	return due
}

// takenOver is a time at which a Cleaner that k8s-cleaner left may run, if it is seen now.
func takenOver() time.Time { return time.Now().UTC().Add(v1alpha1.ForeignQuiet + time.Minute) }

// takeOver sees a Cleaner that k8s-cleaner left, and lets the time pass in which k8s-cleaner does not answer.
func (l *life) takeOver(at time.Time) {
	l.t.Helper()
	l.step()
	wantCondition(l.t, l.now, v1alpha1.ConditionReady, "False", v1alpha1.ReasonForeignController, `k8s-cleaner (field manager "manager") wrote the status of this Cleaner at `)
	l.at(at)
}

// children are what k8s-cleaner kept for the Cleaner: its counts and its Report, which nobody owns.
func (l *life) children() []client.Object {
	return []client.Object{
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: "cleaner-" + l.now.Name}, Data: map[string]string{"Pod__1": "1"}},
		&v1alpha1.Report{ObjectMeta: metav1.ObjectMeta{Name: l.now.Name}, Spec: v1alpha1.ReportSpec{Action: v1alpha1.ActionDelete}},
	}
}

// wantGone fails the test if the object is there.
func (l *life) wantGone(o client.Object) {
	l.t.Helper()
	if err := l.user.Get(l.t.Context(), client.ObjectKeyFromObject(o), o); client.IgnoreNotFound(err) != nil || err == nil {
		l.t.Fatalf("%T %s is still there (%v)", o, o.GetName(), err)
	}
}

func TestAdoptedCleanerRunsWhatWasDueOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	later := takenOver()
	due := lastDue(later)
	l := leftByK8sCleaner(b, due)
	l.startExecutor()
	l.takeOver(later)
	if !slices.Equal(l.now.Finalizers, []string{v1alpha1.Finalizer}) {
		t.Fatalf("the finalizers are %v, want the older one removed when seen", l.now.Finalizers)
	}
	l.wantActive(due)
	l.wantNext(due.Add(day))
	l.finish()
	l.step()
	l.wantActive(time.Time{})
	l.wantRecords(due)
	l.wantEvents("Completed", "1 deleted")
	if l.now.Status.FailureMessage != nil {
		t.Fatalf("the failure of the past is still shown: %s", *l.now.Status.FailureMessage)
	}
	l.goneInOneReconcile()
}

// goneInOneReconcile deletes a Cleaner with finalizers.
func (l *life) goneInOneReconcile() {
	l.t.Helper()
	must(l.t, l.user.Delete(l.t.Context(), l.now))
	result, err := l.reconciler.Reconcile(l.t.Context(), request(l.now.Name))
	must(l.t, err)
	if result.RequeueAfter != 0 {
		l.t.Fatalf("a Cleaner that is gone is to be reconciled after %s", result.RequeueAfter)
	}
	l.wantGone(l.now.DeepCopy())
}

// TestDeletingAnAdoptedCleaner finishes in one reconcile, without an error, and takes along what k8s-cleaner kept.
func TestDeletingAnAdoptedCleaner(t *testing.T) {
	t.Parallel()
	for name, seen := range map[string]bool{"never seen before": false, "seen before": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			l := leftByK8sCleaner(b, time.Now().Add(time.Hour).Truncate(time.Hour), threshold(2))
			for _, child := range l.children() {
				must(t, b.user.Create(t.Context(), child))
			}
			if seen {
				l.step()
			}
			l.goneInOneReconcile()
			for _, child := range l.children() {
				l.wantGone(child)
			}
		})
	}
}

// TestDeletingAnAdoptedCleanerWithoutChildren has nothing to drop.
func TestDeletingAnAdoptedCleanerWithoutChildren(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	leftByK8sCleaner(b, time.Now().Add(time.Hour)).goneInOneReconcile()
}

func TestDeletingAnAdoptedCleanerStopsItsRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", inHand+4)
	later := takenOver()
	l := leftByK8sCleaner(b, lastDue(later), notifying(v1alpha1.NotificationCleanerReport))
	l.startExecutor()
	at := newBarrier(t)
	b.holdRequests(at, http.MethodDelete, "/configmaps/old-")
	l.takeOver(later)
	at.await(inHand)
	l.goneInOneReconcile()
	at.open()
	l.waitFinished(l.now)
	record := l.records()[0]
	wantInterrupted(t, b, &record, "the Cleaner was deleted")
	l.wantNoOrphan()
}

// TestCountsOfAnIdleThresholdGo: without a threshold nothing counts, and what k8s-cleaner counted goes.
func TestCountsOfAnIdleThresholdGo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := leftByK8sCleaner(b, time.Now().Add(time.Hour))
	counts := l.children()[0]
	must(t, b.user.Create(t.Context(), counts))
	l.takeOver(takenOver())
	l.wantGone(counts)
	l.goneInOneReconcile()
}

// TestFinalizersOfOthersStay: only k8s-cleaner's are ours to remove.
func TestFinalizersOfOthersStay(t *testing.T) {
	t.Parallel()
	const other = "example.com/backup"
	b := newBench(t)
	l := leftByK8sCleaner(b, time.Now().Add(time.Hour))
	l.change(func(c *v1alpha1.Cleaner) { c.Finalizers = append(c.Finalizers, other) })
	must(t, b.user.Delete(t.Context(), l.now))
	l.step()
	if !slices.Equal(l.now.Finalizers, []string{other}) {
		t.Fatalf("the finalizers are %v", l.now.Finalizers)
	}
	l.change(func(c *v1alpha1.Cleaner) { c.Finalizers = nil })
}
