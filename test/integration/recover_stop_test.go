// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
)

// TestStoppedWhileRecovering: an operator that is asked to stop has not looked at every object yet, and must not say of those that
// nobody touched them: the one before may have.
func TestStoppedWhileRecovering(t *testing.T) {
	t.Parallel()
	const objects = inHand + 8
	l, next := cutOffRun(t, objects, http.MethodDelete)
	for i := range objects { // as if the dead operator's deletes had arrived
		must(t, l.user.Delete(t.Context(), l.object(fmt.Sprintf("old-%d", i))))
	}
	running := make(chan context.Context, 1)
	second := next.successor(func(s *settings) { // next has an executor that nobody can stop
		s.gate = func(ctx context.Context, _ executor.Request) { running <- ctx }
	})
	stop := second.startExecutor()
	at := newBarrier(t)
	second.holdRequests(at, http.MethodGet, "/configmaps/old-")
	second.at(l.first().Add(time.Minute))
	at.await(inHand)
	stopped := make(chan struct{})
	go func() { defer close(stopped); stop() }()
	<-(<-running).Done()
	at.open()
	<-stopped
	if record := second.records()[0]; record.Status.Phase != v1alpha1.RunExecuting {
		t.Fatalf("the record says %s: %s", record.Status.Phase, record.Status.Message)
	}
	third := second.successor()
	third.startExecutor()
	record := third.goOn(l.first().Add(2 * time.Minute))
	wantRun(t, record, v1alpha1.ReasonCompleted, fmt.Sprintf("%[1]d of %[1]d objects matched; 0 deleted, %[1]d found gone after the run was cut off.", objects))
}

// TestSuspendedWhileRecovering: the rest is not touched, but it is looked at.
func TestSuspendedWhileRecovering(t *testing.T) {
	t.Parallel()
	const objects = inHand + 8
	l, next := cutOffRun(t, objects, http.MethodDelete)
	for i := range objects - 1 {
		must(t, l.user.Delete(t.Context(), l.object(fmt.Sprintf("old-%d", i))))
	}
	at := newBarrier(t)
	next.holdRequests(at, http.MethodGet, "/configmaps/old-")
	next.at(l.first().Add(time.Minute))
	at.await(inHand)
	next.suspend(true)
	next.step()
	at.open()
	next.finish()
	record := next.records()[0]
	wantCounts(t, &record, v1alpha1.RunCounts{Considered: objects, Matched: objects, Acted: objects - 1, Skipped: 1})
	wantRun(t, &record, v1alpha1.ReasonFailed, "and the run was not resumed: the Cleaner was suspended. ")
	if deletes(next) != 0 {
		t.Fatal("the run went on")
	}
}

// F33: an operator that is started anew with --max-actions-per-run, perhaps to stop this very run, goes by it. What the one before did
// is reported all the same.
func TestRecoveryWithALowerLimit(t *testing.T) {
	t.Parallel()
	l, next := cutOffRun(t, 5, http.MethodDelete)
	must(t, l.user.Delete(t.Context(), l.object("old-0")))
	next.runner.Act.MaxActions = 4
	record := next.goOn(l.first().Add(time.Minute))
	wantRun(t, record, v1alpha1.ReasonFailed, "and the run was not resumed: the run would act on 5 objects, and the operator allows 4 in one run (--max-actions-per-run)",
		"5 of 5 objects matched; 0 deleted, 1 found gone after the run was cut off, 4 left alone.")
	l.wantNames("old-1", "old-2", "old-3", "old-4")
	if record.Status.Phase != v1alpha1.RunInterrupted || deletes(next) != 0 {
		t.Fatalf("the phase is %s, after %d deletes of the next operator", record.Status.Phase, deletes(next))
	}
}

// unreadable makes the reading of what runs wrote down fail the first so many times. Each try is sent to the channel.
func (b *bench) unreadable(times int64) <-chan int64 {
	var tries atomic.Int64
	tried := make(chan int64, 1000)
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "-bundle-") {
			return nil, nil
		}
		n := tries.Add(1)
		tried <- n
		if n > times {
			return nil, nil
		}
		return refusal(b.t, r, apierrors.NewServiceUnavailable("busy")), nil
	})
	return tried
}

// TestRecoveryTriesToReadTheIntent: a server that is busy for a moment is no reason to give a run up.
func TestRecoveryTriesToReadTheIntent(t *testing.T) {
	t.Parallel()
	l, next := cutOffRun(t, 3, http.MethodDelete)
	next.unreadable(1)
	record := next.goOn(l.first().Add(time.Minute))
	wantRun(t, record, v1alpha1.ReasonCompleted, "3 of 3 objects matched; 3 deleted.")
}

// TestStoppedBeforeTheIntentIsRead: the next leader reads it, however many stopped before. None of them counts as an attempt that failed.
func TestStoppedBeforeTheIntentIsRead(t *testing.T) {
	t.Parallel()
	l, next := cutOffRun(t, 3, http.MethodDelete)
	for i := range 4 {
		next = next.successor()
		stop := next.startExecutor()
		tried := next.unreadable(1000)
		next.at(l.first().Add(time.Duration(i+1) * time.Minute))
		<-tried
		stop()
		if record := next.records()[0]; record.Status.Phase != v1alpha1.RunExecuting {
			t.Fatalf("the record says %s: %s", record.Status.Phase, record.Status.Message)
		}
	}
	last := next.successor()
	last.startExecutor()
	record := last.goOn(l.first().Add(6 * time.Minute))
	wantRun(t, record, v1alpha1.ReasonCompleted, "3 of 3 objects matched; 3 deleted.")
}
