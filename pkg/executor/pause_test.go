// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package executor

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
)

// resumed calls resume, and tells when it has returned.
func resumed(ctx context.Context, resume func(context.Context)) <-chan struct{} {
	done := make(chan struct{})
	go func() { defer close(done); resume(ctx) }()
	return done
}

func isClosed(done <-chan struct{}) bool {
	synctest.Wait()
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// TestPauseGivesUpTheTurn: another run begins meanwhile, and the paused one goes on before those that have not begun.
func TestPauseGivesUpTheTurn(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.submit("a", 1)
		a := s.begun("a")[0]
		s.submit("b", 2)
		s.submit("c", 3)
		s.begun()
		resume := s.Pause("a")
		b := s.begun("b")[0]
		done := resumed(s.t.Context(), resume)
		if isClosed(done) {
			t.Fatal("two runs go on at once")
		}
		b.finish("done")
		if !isClosed(done) {
			t.Fatal("the turn did not come back")
		}
		s.begun() // c waits
		a.finish("done")
		s.begun("c")[0].finish("done")
		s.ended("b", "a", "c")
		s.submit("d", 4)
		s.submit("e", 5)
		s.begun("d")[0].finish("done") // there is one worker again
		s.begun("e")[0].finish("done")
	})
}

// TestPauseOfARunThatEnds: one that is cancelled does not wait for a turn, which is taken from the next worker all the same.
func TestPauseOfARunThatEnds(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.submit("a", 1)
		a := s.begun("a")[0]
		resume := s.Pause("a")
		s.submit("b", 2)
		b := s.begun("b")[0]
		ended, end := context.WithCancel(s.t.Context())
		end()
		if !isClosed(resumed(ended, resume)) {
			t.Fatal("it waits for a turn")
		}
		a.finish("stopped")
		b.finish("done")
		s.submit("c", 3)
		s.submit("d", 4)
		s.begun("c")[0].finish("done")
		s.begun("d")[0].finish("done")
	})
}

// TestPauseWithAFreeWorker: the run goes on at once, and as many can go on as before.
func TestPauseWithAFreeWorker(t *testing.T) {
	onStage(t, 2, func(s *stage) {
		s.submit("a", 1)
		s.begun("a")
		if !isClosed(resumed(s.t.Context(), s.Pause("a"))) {
			t.Fatal("it waits although a worker is free")
		}
		s.submit("b", 2)
		s.submit("c", 3)
		s.begun("b")
	})
}

// TestPausedRunsAreNotSlow: neither while they wait, nor by the time of their waiting.
func TestPausedRunsAreNotSlow(t *testing.T) {
	onStage(t, 2, func(s *stage) {
		s.submit("a", 1)
		s.begun("a")
		resume := s.Pause("a")
		s.clock.SetTime(s.clock.Now().Add(2 * Slow))
		s.submitAt(PaceSlow, "slow")
		slow := s.begun("slow")[0]
		if !isClosed(resumed(s.t.Context(), resume)) {
			t.Fatal("it waits although a worker is free")
		}
		slow.finish("done")
		s.submitAt(PaceSlow, "again")
		s.begun("again")
	})
}

// TestStopWithAPausedRun: it waits for no turn that will not come.
func TestStopWithAPausedRun(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.submit("a", 1)
		a := s.begun("a")[0]
		resume := s.Pause("a")
		s.submit("b", 2)
		b := s.begun("b")[0]
		done := resumed(s.t.Context(), resume)
		s.stop()
		if !isClosed(done) {
			t.Fatal("it waits for a turn")
		}
		a.finish("stopped")
		b.finish("stopped")
		if !s.hasReturned() {
			t.Fatal("Start did not return")
		}
		s.Pause("a")(s.t.Context()) // does no harm
	})
}

// pauseAll lets as many runs of the only worker be paused as may be.
func (s *stage) pauseAll() (resumes []func(context.Context)) {
	for i := range maxPaused {
		name := fmt.Sprint("waits-", i)
		s.submit(name, int64(i))
		s.begun(name)
		resumes = append(resumes, s.Pause(name))
	}
	return resumes
}

// TestNotTooManyArePaused: beyond so many, a run that waits keeps its turn.
func TestNotTooManyArePaused(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		resumes := s.pauseAll()
		s.submit("one more", 10)
		one := s.begun("one more")[0]
		resume := s.Pause("one more")
		s.submit("after", 11)
		s.begun()
		if !isClosed(resumed(s.t.Context(), resume)) {
			t.Fatal("it waits for a turn that it has not given up")
		}
		done := resumed(s.t.Context(), resumes[0])
		if isClosed(done) {
			t.Fatal("two runs go on at once")
		}
		one.finish("done")
		if !isClosed(done) {
			t.Fatal("the turn did not come back")
		}
	})
}

// TestPausedRunsGetATurn: as many are paused as may be when one of them has what it waited for, and what has the turn waits for that.
func TestPausedRunsGetATurn(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		resumes := s.pauseAll()
		s.submit("one more", 10)
		s.begun("one more")
		done := resumed(s.t.Context(), resumes[0])
		if isClosed(done) {
			t.Fatal("two runs go on at once")
		}
		resume := s.Pause("one more")
		if !isClosed(done) {
			t.Fatal("it did not get the turn")
		}
		goesOn := resumed(s.t.Context(), resume)
		if isClosed(goesOn) {
			t.Fatal("two runs go on at once")
		}
	})
}
