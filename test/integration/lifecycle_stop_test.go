// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
)

// contexts hands the context of each run to the test.
type contexts chan context.Context

func (c contexts) atBeginning(s *settings) {
	s.gate = func(ctx context.Context, _ executor.Request) { c <- ctx }
}

// stopDuring stops the operator while its run is held, and lets the run go on when it knows of that.
func (l *life) stopDuring(at *barrier, runs contexts, stop func()) {
	l.t.Helper()
	stopped := make(chan struct{})
	go func() { defer close(stopped); stop() }()
	select {
	case <-(<-runs).Done():
	case <-time.After(patience):
		l.t.Fatal("the run does not know that the operator stops")
	}
	at.open()
	select {
	case <-stopped:
	case <-time.After(patience):
		l.t.Fatal("the operator did not stop")
	}
}

// TestStopWhileTheRunReads leaves the run, which has touched nothing, for the next operator.
func TestStopWhileTheRunReads(t *testing.T) {
	t.Parallel()
	runs := make(contexts, 1)
	b := newBench(t, runs.atBeginning)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	stop := l.startExecutor()
	at := newBarrier(t)
	l.holdRequests(at, http.MethodGet, "/namespaces/"+b.namespace+"/configmaps")
	first := l.first()
	l.at(first)
	at.await(1)
	l.stopDuring(at, runs, stop)
	l.step()
	if l.now.Status.ActiveRun == nil || l.now.Status.LastRun != nil || deletes(l) != 0 {
		t.Fatalf("the run did not stay: %+v", l.now.Status)
	}
	if phase := l.records()[0].Status.Phase; phase.Final() {
		t.Fatalf("the phase is %s", phase)
	}

	next := l.successor()
	next.startExecutor()
	next.at(first.Add(time.Minute))
	next.finish()
	next.wantRecords(first)
	wantCondition(t, next.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, " 1 deleted.")
	if deletes(next) != 1 {
		t.Fatal("the next operator did not carry the run out")
	}
}

// TestStopWhileTheRunActs finishes the objects in hand, and leaves the rest for the next operator, as a kill does.
func TestStopWhileTheRunActs(t *testing.T) {
	t.Parallel()
	runs := make(contexts, 1)
	b := newBench(t, runs.atBeginning)
	b.configMaps(b.namespace, "old", inHand+4)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationCleanerReport)))
	stop := l.startExecutor()
	at := newBarrier(t)
	l.holdRequests(at, http.MethodDelete, "/configmaps/old-")
	first := l.first()
	l.at(first)
	at.await(inHand)
	l.stopDuring(at, runs, stop)
	record := l.records()[0]
	if record.Status.Phase != v1alpha1.RunExecuting {
		t.Fatalf("the phase is %s", record.Status.Phase)
	}
	if got := len(b.names(b.namespace)); got != 4 {
		t.Fatalf("%d objects are left", got)
	}

	next := l.successor()
	next.startExecutor()
	next.at(first.Add(time.Minute))
	next.finish()
	next.wantRecords(first)
	wantCondition(t, next.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, "and the run was resumed. 20 of 20 objects matched; 20 deleted.")
	if got := len(b.reported(l.now).Spec.ResourceInfo); got != inHand+4 {
		t.Fatalf("the Report lists %d objects", got)
	}
}

// TestStopWhileARunWaits leaves it for the next operator.
func TestStopWhileARunWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	l.startExecutor()() // stopped at once
	first := l.first()
	l.at(first)
	next := l.successor()
	next.startExecutor()
	next.step()
	next.finish()
	next.wantRecords(first)
}

// fault is what a bug does.
func fault() {
	var value any = "text"
	_ = value.(int)
}

func TestPanicInARun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meddle string // a request in whose middle it panics
		gate   bool   // it panics before the run has begun
		want   []string
	}{
		"before it began":  {gate: true, want: []string{"The run could not begin, nothing was touched: a fault of KubeCleaner; please report it"}},
		"while it reads":   {meddle: "GET /configmaps?", want: []string{"fault of KubeCleaner"}},
		"while it records": {meddle: "PUT /cleanerruns/", want: []string{"fault of KubeCleaner"}},
	} {
		t.Run(name, func(t *testing.T) {
			broken := true
			b := newBench(t, func(s *settings) {
				s.gate = func(context.Context, executor.Request) {
					if broken && c.gate {
						fault()
					}
				}
			})
			b.configMap("old")
			l := b.follow(b.cleaner(v1alpha1.ActionDelete))
			l.startExecutor()
			first := l.first()
			method, part, _ := strings.Cut(c.meddle, " ")
			l.step()
			b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				if r.Method == method && strings.Contains(r.URL.RequestURI(), part) {
					b.requests.setMeddle(nil)
					fault()
				}
				return nil, nil
			})
			l.at(first)
			l.finish()
			reason := v1alpha1.ReasonFailed
			if c.gate {
				reason = v1alpha1.ReasonRecordNotWritten
			}
			wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", reason, c.want...)
			l.wantEvents(reason, "fault of KubeCleaner")
			if l.now.Status.FailureMessage == nil || (l.now.Status.LastRunTime == nil) != c.gate || !b.exists("old") {
				t.Fatalf("the status is %+v", l.now.Status)
			}
			broken = false
			next := first.Add(day) // the process lives, and the next run works
			if c.gate {
				next = first.Add(time.Minute) // or the same one, which has not begun
			}
			l.at(next)
			l.finish()
			wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, " 1 deleted.")
		})
	}
}

// TestPanicOnOneObject is that object's failure.
func TestPanicOnOneObject(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("bad")
	b.configMap("good")
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/bad") {
			fault()
		}
		return nil, nil
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, run, v1alpha1.ReasonPartiallyFailed, "; 1 deleted, 1 failed.", "a fault of KubeCleaner")
	wantOutcome(t, run, "bad", v1alpha1.OutcomeFailed, "a fault of KubeCleaner; please report it with the operator's log")
	if b.exists("good") {
		t.Fatal("one object's fault kept another one from being deleted")
	}
}
