// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package executor

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// some are rooms as the operator has them, in small.
var some = Rooms{LaneSlow: {2, 40}, LaneUnknown: {2, 20}, LaneQuick: {2, 10}}

// TestRunsThatHangDoNotHoldUpTheOthers: fifty names whose runs never end take the room of their lane, and of slower ones. The others go on.
func TestRunsThatHangDoNotHoldUpTheOthers(t *testing.T) {
	for name, c := range map[string]struct {
		lane   Lane
		weight int64
		hang   int
	}{
		"slow": {LaneSlow, 0, 2}, "slow and heavy": {LaneSlow, 40, 1}, "unknown": {LaneUnknown, 1, 4}, "heavy": {LaneUnknown, 40, 1}, "quick but heavy": {LaneQuick, 40, 1},
		"too heavy": {LaneSlow, 1000, 1},
	} {
		t.Run(name, func(t *testing.T) {
			withRooms(t, some, func(s *stage) {
				var hang []string
				for i := range 50 {
					hang = append(hang, fmt.Sprintf("hangs-%02d", i))
				}
				s.submitTo(c.lane, c.weight, hang...)
				s.begun(hang[:c.hang]...)
				for i := range 100 {
					name := fmt.Sprintf("quick-%02d", i)
					s.submitTo(LaneQuick, 10, name)
					s.begun(name)[0].finish("done")
				}
				s.submitTo(LaneUnknown, 20, "new")
				if c.hang <= 2 {
					s.begun("new")
				}
				s.begun()
			})
		})
	}
}

// TestEachLaneHasItsRooms: nothing of it is kept for slower ones that nobody submits.
func TestEachLaneHasItsRooms(t *testing.T) {
	for lane, want := range map[Lane][]string{
		LaneSlow: {"a", "b"}, LaneUnknown: {"a", "b", "c", "d"}, LaneQuick: {"a", "b", "c", "d", "e", "f"},
	} {
		withRooms(t, some, func(s *stage) {
			s.submitTo(lane, 1, "a", "b", "c", "d", "e", "f", "g")
			s.begun(want...)
		})
	}
}

// TestWeight: as many begin as there is room for, though workers are free.
func TestWeight(t *testing.T) {
	for lane, want := range map[Lane][]string{
		LaneSlow: {"a", "b", "c", "d"}, LaneUnknown: {"a", "b", "c", "d", "e", "f"}, LaneQuick: {"a", "b", "c", "d", "e", "f", "g"},
	} {
		withRooms(t, Rooms{{9, 40}, {9, 20}, {9, 10}}, func(s *stage) {
			s.submitTo(lane, 10, "a", "b", "c", "d", "e", "f", "g", "h")
			s.begun(want...)[0].finish("done")
			if s.ended("a"); len(s.look()) != 1 {
				t.Errorf("lane %d: an end did not make room for one", lane)
			}
		})
	}
}

// TestTheOldestBeginsFirst, whatever its lane.
func TestTheOldestBeginsFirst(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.submit("a", 1)
		running := s.begun("a")[0]
		s.submitTo(LaneUnknown, 0, "b")
		s.submit("c", 2)
		s.submitTo(LaneSlow, 0, "d")
		s.submit("e", 3)
		for _, next := range []string{"b", "c", "d", "e"} {
			running.finish("done")
			running = s.begun(next)[0]
		}
	})
}

// TestAHeavyOneHasItsTurn: those that came later leave it the room that it waits for, unless it is cancelled.
func TestAHeavyOneHasItsTurn(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		withRooms(t, Rooms{{9, 40}, {9, 20}, {9, 10}}, func(s *stage) {
			s.submitTo(LaneSlow, 10, "a")
			a := s.begun("a")[0]
			s.submitTo(LaneSlow, 40, "heavy")
			s.submitTo(LaneSlow, 10, "later")
			s.submitTo(LaneUnknown, 10, "u1", "u2", "u3")
			s.submitTo(LaneQuick, 10, "q1", "q2")
			s.begun("q1", "u1", "u2")
			if cancelled {
				s.Cancel("heavy", errGone)
				s.begun("later", "q2", "u3")
				return
			}
			a.finish("done")
			s.begun("heavy")[0].finish("done")
			s.begun("later", "q2", "u3")
		})
	}
}

// TestLighten: others have the room that a run gives back before its end, once.
func TestLighten(t *testing.T) {
	withRooms(t, Rooms{{9, 40}}, func(s *stage) {
		s.submitTo(LaneSlow, 40, "heavy")
		heavy := s.begun("heavy")[0]
		s.submitTo(LaneSlow, 20, "a", "b", "c")
		s.begun()
		for range 2 {
			s.Lighten("heavy", 20)
			s.Lighten("heavy", 30)
			s.Lighten("nobody", 0)
		}
		s.begun("a")
		heavy.finish("done")
		s.begun("b")
		if got, ok := s.Result("heavy"); !ok || got.Request.Weight != 40 {
			t.Errorf("its request was %+v", got.Request)
		}
	})
}

// TestAgain: a run that needs more room than it had begins anew when there is as much. It has no result, and is not finished before.
func TestAgain(t *testing.T) {
	withRooms(t, Rooms{{9, 40}, {9, 20}, {9, 10}}, func(s *stage) {
		s.submitTo(LaneSlow, 40, "other")
		other := s.begun("other")[0]
		s.submitTo(LaneUnknown, 10, "a")
		a := s.begun("a")[0]
		a.again = &Request{Name: "a", Weight: 40, Nominal: time.Unix(7, 0)}
		a.finish("outgrown")
		s.begun()
		s.wantActive("a", true)
		s.wantNoResult("a")
		other.finish("done")
		a = s.begun("a")[0]
		if a.Weight != 40 || a.Nominal.Unix() != 7 {
			t.Fatalf("the run is %+v", a.Request)
		}
		a.finish("done")
		s.ended("other", "a")
		s.wantResult("a", "done", 7)
	})
}

// TestAgainAfterTheEnd: a run that was cancelled, or asked for anew, meanwhile does not begin anew for itself.
func TestAgainAfterTheEnd(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.submit("a", 1)
		a := s.begun("a")[0]
		a.again = &Request{Name: "a", Weight: 40}
		s.Cancel("a", errGone)
		a.finish("stopped")
		s.ended("a")
		s.begun()
		s.wantResult("a", "stopped", 1)
		s.submit("a", 2)
		a = s.begun("a")[0]
		a.again = &Request{Name: "a", Weight: 40}
		s.submit("a", 3)
		a.finish("replaced")
		a = s.begun("a")[0]
		if a.Nominal.Unix() != 3 {
			t.Fatalf("the run is %+v", a.Request)
		}
		a.again = &Request{Name: "a", Weight: 40}
		if s.stop(); s.hasReturned() {
			t.Fatal("Start returned before the run had")
		}
		a.finish("stopped")
		s.begun()
		if !s.hasReturned() {
			t.Fatal("Start did not return")
		}
	})
}

// TestTheEndOfASlowRunLetsTheNextBegin: also while other workers sleep.
func TestTheEndOfASlowRunLetsTheNextBegin(t *testing.T) {
	withRooms(t, Rooms{{5, 0}, {5, 0}}, func(s *stage) {
		s.submitTo(LaneSlow, 0, "a", "b", "c", "d", "e", "f", "g")
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

// BenchmarkQueue shows what a run costs besides itself when 5,000 names wait, a third of them in each lane: this must be
// nothing beside the milliseconds of a run, and must not grow with how many wait.
func BenchmarkQueue(b *testing.B) {
	const names = 5000
	requests := map[string]Request{}
	for i := range names {
		name := fmt.Sprintf("cleaner-%04d", i)
		requests[name] = Request{Name: name, Lane: Lane(i % int(lanes)), Weight: 1, Nominal: time.Unix(1, 0)}
	}
	done := make(chan string, names)
	e := New(Rooms{{6, 9}, {9, 9}, {5, 9}}, func(context.Context, Request) (string, *Request) { return "", nil }, func(name string) { done <- name }, stoppedClock{})
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
