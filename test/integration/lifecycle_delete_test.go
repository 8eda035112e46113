// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// gone deletes the Cleaner and reconciles what is not there any more.
func (l *life) gone() {
	l.t.Helper()
	must(l.t, l.user.Delete(l.t.Context(), l.now))
	result, err := l.reconciler.Reconcile(l.t.Context(), request(l.now.Name))
	must(l.t, err)
	if result.RequeueAfter != 0 {
		l.t.Fatalf("a Cleaner that is gone is to be reconciled after %s", result.RequeueAfter)
	}
}

// wantNoOrphan fails the test if there is a Report of the Cleaner's name that the garbage collector would let live.
func (l *life) wantNoOrphan() {
	l.t.Helper()
	var report v1alpha1.Report
	err := l.user.Get(l.t.Context(), client.ObjectKey{Name: l.now.Name}, &report)
	if apierrors.IsNotFound(err) {
		return
	}
	must(l.t, err)
	if owner := metav1.GetControllerOf(&report); owner == nil || owner.UID != l.now.UID {
		l.t.Fatalf("the Report has the owners %+v", report.OwnerReferences)
	}
}

func TestDeleteStopsTheRunBeforeTheNextObject(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", inHand+4)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationCleanerReport)))
	l.startExecutor()
	at := newBarrier(t)
	b.holdRequests(at, http.MethodDelete, "/configmaps/old-")
	l.at(l.first())
	at.await(inHand)
	l.gone()
	at.open()
	l.waitFinished(l.now)
	record := l.records()[0] // nothing collects garbage on the workbench
	wantInterrupted(t, b, &record, "the Cleaner was deleted")
	l.wantNoOrphan()
	_, err := l.reconciler.Reconcile(t.Context(), request(l.now.Name)) // the end of the run wakes it once more
	must(t, err)
	if _, ok := l.executor.Result(l.now.Name); ok {
		t.Fatal("the result of a Cleaner that is gone is kept")
	}
}

func TestDeleteWhileARunWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.at(l.first())
	l.gone()
	if request, ok := l.executor.Active(l.now.Name); ok {
		t.Fatalf("the executor has %+v", request)
	}
	l.startExecutor()
	b.runNow(b.cleaner(v1alpha1.ActionScan)) // comes after it in the queue
	l.wantRecords()
	if !b.exists("old") {
		t.Fatal("the deleted Cleaner deleted something")
	}
}

// TestDeleteWhileARunStarts is a run that has left the queue and not looked at its Cleaner yet.
func TestDeleteWhileARunStarts(t *testing.T) {
	t.Parallel()
	at := newBarrier(t)
	b := newBench(t, at.atBeginning)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationCleanerReport)))
	l.startExecutor()
	l.at(l.first())
	at.await(1)
	l.gone()
	at.open()
	l.waitFinished(l.now)
	l.wantRecords()
	l.wantNoOrphan()
	if !b.exists("old") {
		t.Fatal("the deleted Cleaner deleted something")
	}
}

// TestDeleteAWhileBWaitsAndRuns is the queue of two Cleaners, one of which is deleted.
func TestDeleteAWhileBWaitsAndRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	a, other := b.follow(b.cleaner(v1alpha1.ActionScan)), b.follow(b.cleaner(v1alpha1.ActionScan))
	first := a.first()
	a.at(first)
	other.at(first)
	a.gone()
	other.wantActive(first)
	b.startExecutor()
	other.finish()
	other.wantRecords(first)
	a.wantRecords()
	wantCounts(t, &other.records()[0], v1alpha1.RunCounts{Considered: 1, Matched: 1})
	other.at(first.Add(day))
	other.finish()
	other.wantRecords(first, first.Add(day))
}
