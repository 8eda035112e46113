// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package executor

import (
	"context"
	"errors"
	"testing"
)

var errGone = errors.New("the Cleaner was deleted")

func TestDeleteAWhileBWaits(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.submit("first", 1)
		first := s.begun("first")[0]
		s.submit("a", 2)
		s.submit("b", 3)
		s.Forget("a", errGone)
		s.wantActive("a", false)
		s.wantActive("b", true)
		first.finish("done")
		b := s.begun("b")[0] // a never runs
		b.finish("done")
		s.ended("first", "b")
		s.begun()
		s.wantResult("b", "done", 3)
	})
}

func TestDeleteAWhileBRuns(t *testing.T) {
	onStage(t, 2, func(s *stage) {
		s.submit("a", 1)
		s.submit("b", 2)
		calls := s.begun("a", "b")
		s.Forget("a", errGone)
		a, b := calls[0], calls[1]
		if cause := context.Cause(a.ctx); !errors.Is(cause, errGone) {
			t.Fatalf("the cause of a's end is %v", cause)
		}
		if b.ctx.Err() != nil {
			t.Fatal("forgetting a cancelled b")
		}
		a.finish("stopped")
		b.finish("done")
		s.begun() // each ran once
		s.wantResult("b", "done", 2)
	})
}

func TestCancelledWhileWaitingNeverRuns(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.submit("first", 1)
		first := s.begun("first")[0]
		s.submit("a", 2)
		s.Cancel("a", errGone)
		s.wantActive("a", false)
		first.finish("done")
		s.begun()
		s.ended("first")
		s.wantNoResult("a")
	})
}

func TestCancelledWhileWaitingCanBeSubmittedAgain(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.submit("first", 1)
		first := s.begun("first")[0]
		s.submit("a", 2)
		s.Cancel("a", errGone)
		s.submit("a", 3)
		first.finish("done")
		a := s.begun("a")[0]
		if a.Nominal.Unix() != 3 || a.ctx.Err() != nil {
			t.Fatalf("the second request ran as %+v, %v", a.Request, context.Cause(a.ctx))
		}
		a.finish("done")
		s.begun()
		s.wantResult("a", "done", 3)
	})
}

func TestCancelledWhileRunningSeesItsCauseAndKeepsItsResult(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.submit("a", 1)
		a := s.begun("a")[0]
		s.Cancel("a", errGone)
		if cause := context.Cause(a.ctx); !errors.Is(cause, errGone) {
			t.Fatalf("the cause is %v", cause)
		}
		s.wantActive("a", true) // until it has returned
		a.finish("stopped")
		s.ended("a")
		s.wantActive("a", false)
		s.wantResult("a", "stopped", 1)
		s.Forget("a", errGone)
		s.wantNoResult("a")
	})
}

func TestSubmitWhileRunningRunsOnceMore(t *testing.T) {
	for name, submits := range map[string]int64{"once": 1, "many times": 100} {
		t.Run(name, func(t *testing.T) {
			onStage(t, 4, func(s *stage) {
				s.submit("a", 1)
				first := s.begun("a")[0]
				for i := range submits {
					s.submit("a", 2+i)
				}
				s.begun() // not beside itself
				first.finish("first")
				second := s.begun("a")[0]
				if second.Nominal.Unix() != 1+submits {
					t.Fatalf("the run is of %d, want the latest", second.Nominal.Unix())
				}
				s.wantNoResult("a") // the first run's would be taken for the second's
				second.finish("second")
				s.begun()
				s.ended("a", "a")
				s.wantResult("a", "second", 1+submits)
			})
		})
	}
}

func TestWaitingRequestIsReplaced(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.submit("first", 1)
		first := s.begun("first")[0]
		s.submit("a", 2)
		s.Submit(Request{Name: "a", Nominal: first.Nominal, Manual: true})
		first.finish("done")
		if a := s.begun("a")[0]; !a.Manual || !a.Nominal.Equal(first.Nominal) {
			t.Fatalf("the run is %+v, want the later request", a.Request)
		} else {
			a.finish("done")
		}
		s.begun()
	})
}

func TestResultStaysUntilTheNextSubmit(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.wantNoResult("a")
		s.submit("a", 1)
		s.begun("a")[0].finish("done")
		s.wantResult("a", "done", 1)
		s.submit("b", 2)
		s.begun("b")[0].finish("done")
		s.wantResult("a", "done", 1)
		s.submit("a", 3)
		s.wantNoResult("a")
		s.begun("a")[0].finish("again")
		s.wantResult("a", "again", 3)
	})
}

// TestKeepLeavesJustTheOwnersRuns is a name that another owner took over, in each state of the first one's run.
func TestKeepLeavesJustTheOwnersRuns(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		submit := func(name, owner string) { s.Submit(Request{Name: name, Owner: owner}) }
		submit("running", "old")
		running := s.begun("running")[0]
		submit("waiting", "old")
		submit("both", "new")
		for _, name := range []string{"running", "waiting", "both"} {
			s.Keep(name, "new", errGone)
		}
		s.wantActive("waiting", false)
		s.wantActive("both", true)
		if cause := context.Cause(running.ctx); !errors.Is(cause, errGone) {
			t.Fatalf("the cause is %v", cause)
		}
		submit("running", "new") // waits for the old one's end
		s.Keep("running", "new", errGone)
		running.finish("stopped")
		both := s.begun("both")[0]
		both.finish("done")
		again := s.begun("running")[0]
		if again.Owner != "new" || again.ctx.Err() != nil {
			t.Fatalf("the new owner's run is %+v, %v", again.Request, context.Cause(again.ctx))
		}
		s.Keep("both", "new", errGone)
		s.wantResult("both", "done", both.Nominal.Unix())
		s.Keep("both", "newer", errGone)
		s.wantNoResult("both")
		again.finish("done")
		s.begun()
	})
}
