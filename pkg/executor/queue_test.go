// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package executor

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestRunsThatHangDoNotHoldUpTheOthers: fifty names whose runs never end take half of the workers, and no more.
func TestRunsThatHangDoNotHoldUpTheOthers(t *testing.T) {
	onStage(t, 4, func(s *stage) {
		for i := range 50 {
			s.submitUnknown(fmt.Sprintf("hangs-%02d", i))
		}
		s.begun("hangs-00", "hangs-01")
		for i := range 100 {
			name := fmt.Sprintf("quick-%02d", i)
			s.submit(name, int64(i))
			s.begun(name)[0].finish("done")
		}
		s.begun()
	})
}

// TestQuickNamesTakeAllWorkers: nothing is set aside for names that nobody submits.
func TestQuickNamesTakeAllWorkers(t *testing.T) {
	onStage(t, 3, func(s *stage) {
		for _, name := range []string{"a", "b", "c", "d"} {
			s.submit(name, 1)
		}
		s.begun("a", "b", "c")
	})
}

// TestTheOldestBeginsFirst: names that are not known to be quick do not wait for those that are and came later.
func TestTheOldestBeginsFirst(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.submit("a", 1)
		running := s.begun("a")[0]
		s.submitUnknown("b")
		s.submit("c", 2)
		s.submitUnknown("d")
		for _, next := range []string{"b", "c", "d"} {
			running.finish("done")
			running = s.begun(next)[0]
		}
	})
}

// TestARunThatBecomesSlowCounts: it began as a quick one, and takes the place of one that is not.
func TestARunThatBecomesSlowCounts(t *testing.T) {
	onStage(t, 4, func(s *stage) {
		s.submit("a", 1)
		s.submit("b", 1)
		calls := s.begun("a", "b")
		s.clock.SetTime(s.clock.Now().Add(Slow))
		s.submitUnknown("unknown", "waits")
		s.begun()
		s.submit("c", 2)
		s.begun("c")
		calls[0].finish("done")
		s.begun("unknown")
		calls[1].finish("done")
		s.begun("waits")
	})
}

// TestTheEndOfAnUnknownRunLetsTheNextBegin: also while other workers sleep.
func TestTheEndOfAnUnknownRunLetsTheNextBegin(t *testing.T) {
	onStage(t, 10, func(s *stage) {
		s.submitUnknown("a", "b", "c", "d", "e", "f", "g")
		calls := s.begun("a", "b", "c", "d", "e")
		s.Cancel("f", errGone)
		calls[2].finish("done")
		s.begun("g")
		s.ended("c")
	})
}

// TestReplacedRequestKeepsItsPlace: asking again does not put a name behind the others.
func TestReplacedRequestKeepsItsPlace(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.submit("first", 1)
		first := s.begun("first")[0]
		s.submit("a", 2)
		s.submit("b", 3)
		s.submit("a", 4)
		first.finish("done")
		a := s.begun("a")[0]
		if a.Nominal.Unix() != 4 {
			t.Fatalf("the run is of %d, want the latest", a.Nominal.Unix())
		}
		a.finish("done")
		s.begun("b")[0].finish("done")
		s.begun() // a did not run again
	})
}

// BenchmarkQueue shows what a run costs besides itself when 5,000 names wait, half of them not known to be quick: this must be
// nothing beside the milliseconds of a run, and must not grow with how many wait.
func BenchmarkQueue(b *testing.B) {
	const names = 5000
	requests := map[string]Request{}
	for i := range names {
		name := fmt.Sprintf("cleaner-%04d", i)
		requests[name] = Request{Name: name, Quick: i%2 == 0, Nominal: time.Unix(1, 0)}
	}
	done := make(chan string, names)
	e := New(20, func(context.Context, Request) string { return "" }, func(name string) { done <- name }, stoppedClock{})
	for _, request := range requests {
		e.Submit(request)
	}
	ctx, cancel := context.WithCancel(b.Context())
	returned := make(chan struct{})
	go func() { defer close(returned); _ = e.Start(ctx) }()
	b.ReportAllocs()
	for b.Loop() {
		e.Submit(requests[<-done])
	}
	cancel()
	<-returned
}
