// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// deletes counts the deletes of ConfigMaps that these operators sent.
func deletes(operators ...*life) int {
	n := 0
	for _, l := range operators {
		for _, path := range l.requests.paths(http.MethodDelete) {
			if !strings.Contains(path, "/namespaces/"+operatorNamespace+"/secrets/") { // what a run wrote down and took back
				n++
			}
		}
	}
	return n
}

// TestRestartBetweenStatusWriteAndSubmit: the status says that a run goes on, and nobody knows of it.
func TestRestartBetweenStatusWriteAndSubmit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	first := l.first()
	l.at(first)
	l.wantRecords()

	next := l.successor()
	next.startExecutor()
	next.step()
	next.wantActive(first)
	next.finish()
	next.step()
	next.wantRecords(first)
	next.wantActive(time.Time{})
	next.wantEvents("Completed", "; 1 deleted.")
	if n := deletes(l, next); n != 1 {
		t.Fatalf("%d deletes were sent, want 1", n)
	}
}

// TestRestartOfAManualRun keeps what the run was asked for as.
func TestRestartOfAManualRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan, func(c *v1alpha1.Cleaner) { c.Spec.Suspend = new(true) }))
	l.ask("now")
	l.step()
	next := l.successor()
	next.startExecutor()
	next.step()
	next.finish()
	record := next.records()[0]
	wantRun(t, &record, v1alpha1.ReasonCompleted)
	if record.Spec.Trigger != v1alpha1.TriggerManual {
		t.Fatalf("the trigger is %s", record.Spec.Trigger)
	}
}

// TestRestartAfterTheRunEnded folds the record in: the run is not repeated.
func TestRestartAfterTheRunEnded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", stale)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale)))
	l.startExecutor()
	first := l.first()
	l.at(first)
	l.waitFinished(l.now)
	b.configMap("younger", stale)

	next := l.successor()
	next.startExecutor()
	next.at(first.Add(time.Minute))
	next.wantActive(time.Time{})
	next.wantRecords(first)
	next.wantEvents("Completed", "; 1 deleted.")
	wantCondition(t, next.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, "; 1 deleted.")
	last := next.now.Status.LastRun
	if last.Acted != 1 || len(last.Matches) != 1 || last.Matches[0].Message != "old is stale" || !next.now.Status.LastRunTime.Time.Equal(first) {
		t.Fatalf("status.lastRun is %+v of %s", last, next.now.Status.LastRunTime)
	}
	if !b.exists("younger") || deletes(next) != 0 {
		t.Fatal("the run was repeated")
	}
}

// TestRestartWhileTheRunActed: what became of the objects in hand nobody knows, and it says so.
func TestRestartWhileTheRunActed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", inHand+4)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	at := newBarrier(t) // never opened: this operator is no more
	b.holdRequests(at, http.MethodDelete, "/configmaps/old-")
	first := l.first()
	l.at(first)
	at.await(inHand)

	next := l.successor()
	next.startExecutor()
	next.at(first.Add(time.Minute))
	next.finish()
	next.wantRecords(first)
	record := next.records()[0]
	wantRun(t, &record, v1alpha1.ReasonCompleted, "The operator stopped while the run was acting, and the run was resumed. 20 of 20 objects matched; 20 deleted.")
	wantCounts(t, &record, v1alpha1.RunCounts{Considered: inHand + 4, Matched: inHand + 4, Acted: inHand + 4})
	for name, outcome := range outcomes(&record) {
		if outcome != v1alpha1.OutcomeDeleted {
			t.Fatalf("%s is %s, want Deleted", name, outcome)
		}
	}
	wantCondition(t, next.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, "The operator stopped")
	b.wantNames()
}

// TestTwoOperatorsOneTick lets two operators go for the same nominal time at once: the record's name is the lock.
func TestTwoOperatorsOneTick(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 5)
	one := b.follow(b.cleaner(v1alpha1.ActionDelete))
	first := one.first()
	one.at(first)
	other := one.successor()
	other.step()
	other.wantActive(first)
	var both sync.WaitGroup
	for _, l := range []*life{one, other} {
		l.startExecutor()
		both.Go(func() { <-l.finished })
	}
	both.Wait()
	one.wantRecords(first)
	if n := deletes(one, other); n < 5 || n > 10 { // the second may take the first for gone; preconditions let one of them delete
		t.Fatalf("%d deletes were sent, want 5 that count", n)
	}
	if record := one.records()[0]; !record.Status.Phase.Final() {
		t.Fatalf("the phase is %s", record.Status.Phase)
	}
	b.wantNames()
}

// TestStoppedWhileReconciling: what an operator that stops could not write is no error.
func TestStoppedWhileReconciling(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if result, err := l.reconciler.Reconcile(ctx, request(l.now.Name)); err != nil || result.RequeueAfter != 0 {
		t.Fatalf("%v, %v", result, err)
	}
}
