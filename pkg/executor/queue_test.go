// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package executor

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestRunsThatHangDoNotHoldUpTheOthers: fifty names whose runs never end take a part of the workers. Those that are known to be
// slow take less than those of which nothing is known, and the others go on.
func TestRunsThatHangDoNotHoldUpTheOthers(t *testing.T) {
	for pace, hang := range map[Pace][]string{
		PaceSlow:    {"hangs-00", "hangs-01"},
		PaceUnknown: {"hangs-00", "hangs-01", "hangs-02"},
	} {
		onStage(t, 4, func(s *stage) {
			for i := range 50 {
				s.submitAt(pace, fmt.Sprintf("hangs-%02d", i))
			}
			s.begun(hang...)
			for i := range 100 {
				name := fmt.Sprintf("quick-%02d", i)
				s.submit(name, int64(i))
				s.begun(name)[0].finish("done")
			}
			s.submitAt(PaceUnknown, "new")
			if pace == PaceSlow {
				s.begun("new")
			}
			s.begun()
		})
	}
}

// TestEachPaceTakesItsShare: nothing is set aside for slower names, nor for those that nobody submits.
func TestEachPaceTakesItsShare(t *testing.T) {
	for pace, want := range map[Pace][]string{
		PaceSlow: {"a", "b"}, PaceUnknown: {"a", "b", "c"}, PaceQuick: {"a", "b", "c", "d"},
	} {
		onStage(t, 4, func(s *stage) {
			s.submitAt(pace, "a", "b", "c", "d", "e")
			s.begun(want...)
		})
	}
}

// TestShareOfFewWorkers: one is left for the others wherever there are two.
func TestShareOfFewWorkers(t *testing.T) {
	for workers, want := range map[int]map[Pace][]string{
		1: {PaceSlow: {"a"}, PaceUnknown: {"a"}, PaceQuick: {"a"}},
		2: {PaceSlow: {"a"}, PaceUnknown: {"a"}, PaceQuick: {"a", "b"}},
		3: {PaceSlow: {"a"}, PaceUnknown: {"a", "b"}, PaceQuick: {"a", "b", "c"}},
	} {
		for pace, begun := range want {
			onStage(t, workers, func(s *stage) {
				s.submitAt(pace, "a", "b", "c", "d")
				s.begun(begun...)
			})
		}
	}
}

// TestTheOldestBeginsFirst: slow names do not wait for quick ones that came later.
func TestTheOldestBeginsFirst(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.submit("a", 1)
		running := s.begun("a")[0]
		s.submitAt(PaceUnknown, "b")
		s.submit("c", 2)
		s.submitAt(PaceSlow, "d")
		s.submit("e", 3)
		for _, next := range []string{"b", "c", "d", "e"} {
			running.finish("done")
			running = s.begun(next)[0]
		}
	})
}

// TestARunThatBecomesSlowCounts: it began as a quick one, and takes the place of a slow one.
func TestARunThatBecomesSlowCounts(t *testing.T) {
	onStage(t, 4, func(s *stage) {
		s.submit("a", 1)
		s.submit("b", 1)
		calls := s.begun("a", "b")
		s.clock.SetTime(s.clock.Now().Add(Slow))
		s.submitAt(PaceSlow, "slow", "waits")
		s.begun()
		s.submit("c", 2)
		s.begun("c")
		calls[0].finish("done")
		s.begun("slow")
		calls[1].finish("done")
		s.begun("waits")
	})
}

// TestTheEndOfASlowRunLetsTheNextBegin: also while other workers sleep.
func TestTheEndOfASlowRunLetsTheNextBegin(t *testing.T) {
	onStage(t, 10, func(s *stage) {
		s.submitAt(PaceSlow, "a", "b", "c", "d", "e", "f", "g")
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

// BenchmarkQueue shows what a run costs besides itself when 5,000 names wait, a third of them of each pace: this must be
// nothing beside the milliseconds of a run, and must not grow with how many wait.
func BenchmarkQueue(b *testing.B) {
	const names = 5000
	requests := map[string]Request{}
	for i := range names {
		name := fmt.Sprintf("cleaner-%04d", i)
		requests[name] = Request{Name: name, Pace: paces[i%len(paces)], Nominal: time.Unix(1, 0)}
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
