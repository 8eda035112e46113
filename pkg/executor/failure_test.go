// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package executor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/fault"
)

func TestPanicIsThatRunsFailure(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.submit("a", 1)
		s.begun("a")[0].end <- func() string {
			var value any = 1
			return value.(string)
		}
		s.ended("a")
		result, ok := s.Result("a")
		var panicked *fault.Error
		if !ok || !errors.As(result.Err, &panicked) || !strings.HasSuffix(panicked.Error(), ": interface conversion: interface {} is int, not string") {
			t.Fatalf("the result is %+v, %v", result, ok)
		}
		if !strings.Contains(string(panicked.Stack), "failure_test.go") {
			t.Fatalf("the error does not say where: %s", panicked.Stack)
		}
		s.wantActive("a", false)
		s.submit("a", 2) // the only worker goes on
		s.begun("a")[0].finish("done")
		s.wantResult("a", "done", 2)
	})
}

func TestStopWaitsForTheRunsInProgress(t *testing.T) {
	onStage(t, 2, func(s *stage) {
		s.submit("a", 1)
		s.submit("b", 2)
		calls := s.begun("a", "b")
		s.submit("a", 3)       // waits for a's end
		s.submit("waiting", 4) // waits for a worker
		s.stop()
		if s.hasReturned() {
			t.Fatal("Start returned before the runs in progress had")
		}
		for _, c := range calls {
			if cause := context.Cause(c.ctx); !errors.Is(cause, ErrStopping) {
				t.Fatalf("the cause of %s is %v, want ErrStopping", c.Name, cause)
			}
		}
		calls[0].finish("stopped")
		if s.hasReturned() {
			t.Fatal("Start returned before the last run in progress had")
		}
		calls[1].finish("stopped")
		if !s.hasReturned() {
			t.Fatal("Start did not return")
		}
		s.begun() // what waited is forgotten
		s.ended("a", "b")
		s.wantResult("b", "stopped", 2)
		s.wantActive("waiting", false)
	})
}

func TestStopWithNothingToDo(t *testing.T) {
	onStage(t, 20, func(s *stage) {
		s.stop()
		if !s.hasReturned() {
			t.Fatal("Start did not return")
		}
	})
}

func TestSubmitAfterStopDoesNothing(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.stop()
		s.wantActive("a", false)
		s.submit("a", 1)
		s.begun()
		s.wantActive("a", false)
		s.Cancel("a", errGone) // these do no harm either
		s.Forget("a", errGone)
	})
}

func TestSubmittedBeforeStartRuns(t *testing.T) {
	ran := make(chan string, 1)
	e := New(Rooms{{Workers: 1}}, func(_ context.Context, r Request) (string, *Request) { ran <- r.Name; return "", nil }, func(string) {}, stoppedClock{})
	e.Submit(Request{Name: "early"})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- e.Start(ctx) }()
	if name := <-ran; name != "early" {
		t.Fatalf("%q ran", name)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestOnlyTheLeaderRunsAnything(t *testing.T) {
	if !New(Rooms{{Workers: 1}}, func(context.Context, Request) (string, *Request) { return "", nil }, func(string) {}, stoppedClock{}).NeedLeaderElection() {
		t.Fatal("the executor starts without the lease")
	}
}

func TestOverdueNamesTheRunsThatHang(t *testing.T) {
	onStage(t, 2, func(s *stage) {
		s.submit("a", 1)
		a := s.begun("a")[0]
		s.clock.SetTime(s.clock.Now().Add(time.Minute))
		s.submit("b", 2)
		s.begun("b")
		if err := s.Overdue(time.Minute); err != nil {
			t.Fatalf("just at the limit: %v", err)
		}
		s.clock.SetTime(s.clock.Now().Add(time.Second))
		err := s.Overdue(time.Minute)
		if err == nil || err.Error() != "the run of a has been going on for 1m1s" {
			t.Fatalf("got %v", err)
		}
		a.finish("done")
		s.ended("a")
		if err := s.Overdue(time.Minute); err != nil {
			t.Fatalf("after its end: %v", err)
		}
	})
}

// stoppedClock is a clock for executors whose time nobody looks at.
type stoppedClock struct{}

func (stoppedClock) Now() time.Time                { return time.Time{} }
func (stoppedClock) Since(time.Time) time.Duration { return 0 }
