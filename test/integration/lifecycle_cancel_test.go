// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// cancel cancels a run of the Cleaner, as kubectl cleaner cancel does.
func (l *life) cancel(run string) {
	l.t.Helper()
	l.change(func(c *v1alpha1.Cleaner) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1alpha1.CancelRunAnnotation, run)
	})
}

const cancelled = "it was cancelled (kubectl cleaner cancel)"

// TestCancelStopsTheRunBeforeTheNextObject: also one that suspending would not stop. The schedule goes on.
func TestCancelStopsTheRunBeforeTheNextObject(t *testing.T) {
	t.Parallel()
	for name, suspended := range map[string]bool{"of the schedule": false, "asked for while suspended": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.configMaps(b.namespace, "old", inHand+4)
			l := b.follow(b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) { c.Spec.Suspend = new(suspended) }))
			l.startExecutor()
			at := newBarrier(t)
			b.holdRequests(at, http.MethodDelete, "/configmaps/old-")
			if suspended {
				l.ask("now")
				l.step()
			} else {
				l.at(l.first())
			}
			at.await(inHand)
			l.cancel("another-run")
			l.step()
			l.cancel(l.now.Status.ActiveRun.Name)
			l.step()
			at.open()
			l.finish()
			record := l.records()[0]
			wantInterrupted(t, b, &record, cancelled)
			wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonCancelled, "The run was stopped: "+cancelled+".", "16 deleted, 4 left alone.")
			if suspended {
				return
			}
			l.at(l.first().Add(day)) // the annotation is still there, and names no run to come
			l.finish()
			wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, "4 deleted.")
		})
	}
}

func TestCancelWhileARunWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.at(l.first())
	l.cancel(l.now.Status.ActiveRun.Name)
	l.step()
	l.wantActive(time.Time{})
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed, "did not begin, because "+cancelled+".")
	l.wantNext(l.first().Add(day))
}

// TestCancelWhileARunStarts is a run that has left the queue and not looked at its Cleaner yet.
func TestCancelWhileARunStarts(t *testing.T) {
	t.Parallel()
	at := newBarrier(t)
	b := newBench(t, at.atBeginning)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	l.at(l.first())
	at.await(1)
	l.cancel(l.now.Status.ActiveRun.Name) // nothing was reconciled yet
	at.open()
	l.finish()
	wantRun(t, &l.records()[0], v1alpha1.ReasonCancelled, "Nothing was touched: "+cancelled+".")
	if !b.exists("old") {
		t.Fatal("the cancelled run deleted something")
	}
}

// TestCancelOutlivesTheOperator: the run was cancelled while no operator was there to see it. The next one deletes nothing more, and finds
// out what the one before did.
func TestCancelOutlivesTheOperator(t *testing.T) {
	t.Parallel()
	const objects = inHand + 8
	l, next := cutOffRun(t, objects, http.MethodDelete)
	for i := range objects - 1 { // as if the dead operator's deletes had arrived
		must(t, l.user.Delete(t.Context(), l.object(fmt.Sprintf("old-%d", i))))
	}
	next.cancel(next.now.Status.ActiveRun.Name)
	next.at(l.first().Add(time.Minute))
	next.finish()
	record := next.records()[0]
	wantCounts(t, &record, v1alpha1.RunCounts{Considered: objects, Matched: objects, Acted: objects - 1, Skipped: 1})
	wantRun(t, &record, v1alpha1.ReasonCancelled, "and the run was not resumed: "+cancelled+". ")
	if deletes(next) != 0 {
		t.Fatal("the run went on")
	}
}
