// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package recheck

import (
	"context"
	"errors"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

var (
	keep = stage.Candidate{Object: object.Object{Name: "keep"}}
	take = stage.Candidate{Object: object.Object{Name: "take"}}
)

// readAt is a decision that leaves keep alone, from what was read until then.
func readAt(read time.Time) Decided { return Decided{Left: leavesKeep, Read: read} }

func leavesKeep(c stage.Candidate) string {
	if c.Name == keep.Name {
		return "it is used by now"
	}
	return ""
}

// TestEnter: a decision holds for a minute after the reading that it was made from, however long a script took, and is made again then.
func TestEnter(t *testing.T) {
	const script = 50 * time.Second
	clk, decided := clocktesting.NewFakeClock(time.Unix(0, 0)), 0
	d := New(clk, func(context.Context) (Decided, error) {
		decided++
		read := clk.Now()
		clk.Step(script)
		return readAt(read), nil
	}, Decided{})
	for _, step := range []struct {
		after time.Duration
		c     stage.Candidate
		why   string
		// decided is how many decisions there were by then.
		decided int
	}{
		{0, take, "", 1}, // there was none
		{maxAge - script, keep, "it is used by now", 1},
		{time.Second, take, "", 2},
	} {
		clk.Step(step.after)
		leave, why, err := d.Enter(t.Context(), step.c)
		if err != nil || why != step.why || decided != step.decided || (leave != nil) != (why == "") {
			t.Fatalf("after %s, %s: %q %v, after %d decisions", step.after, step.c.Name, why, err, decided)
		}
		if leave != nil {
			leave()
		}
	}
}

// TestLongScript: a decision that took longer than it holds may be used for a few seconds. Otherwise it would be made for ever.
func TestLongScript(t *testing.T) {
	clk, decided := clocktesting.NewFakeClock(time.Unix(0, 0)), 0
	d := New(clk, func(context.Context) (Decided, error) {
		decided++
		read := clk.Now()
		clk.Step(2 * maxAge)
		return readAt(read), nil
	}, Decided{})
	for _, step := range []struct {
		after   time.Duration
		decided int
	}{{0, 1}, {leastUse, 1}, {time.Second, 2}} {
		clk.Step(step.after)
		leave, _, err := d.Enter(t.Context(), take)
		if err != nil || decided != step.decided {
			t.Fatalf("after %s: %v, after %d decisions", step.after, err, decided)
		}
		leave()
	}
}

// TestJoin: several decisions leave alone what one of them does, and are as old as the last.
func TestJoin(t *testing.T) {
	boom := errors.New("boom")
	of := func(decided Decided, err error) Decide {
		return func(context.Context) (Decided, error) { return decided, err }
	}
	leavesTake := func(c stage.Candidate) string {
		if c.Name == take.Name {
			return "it holds a protected object"
		}
		return ""
	}
	early, late := time.Unix(0, 0), time.Unix(9, 0)
	for wantRead, decides := range map[time.Time][]Decide{
		late:  {of(readAt(early), nil), of(Decided{leavesTake, late}, nil)},
		early: {of(Decided{leavesTake, late}, nil), of(readAt(early), nil)},
	} {
		joined, err := Join(decides...)(t.Context())
		if err != nil || !joined.Read.Equal(wantRead) || joined.Left(keep) != "it is used by now" || joined.Left(take) != "it holds a protected object" ||
			joined.Left(stage.Candidate{}) != "" {
			t.Errorf("%v: %+v", err, joined)
		}
	}
	if _, err := Join(of(readAt(early), nil), of(Decided{}, boom))(t.Context()); !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
}

// TestAfter: a decision that was made already is used once, and only while it is young.
func TestAfter(t *testing.T) {
	clk := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	anew := 0
	decide := func(context.Context) (Decided, error) { anew++; return readAt(clk.Now()), nil }
	for age, want := range map[time.Duration]int{maxAge: 1, maxAge + 1: 2} {
		anew = 0
		after := After(clk, readAt(clk.Now().Add(-age)), decide)
		for range 2 {
			if _, err := after(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if anew != want {
			t.Errorf("after %s, of two decisions %d were made anew, want %d", age, anew, want)
		}
	}
}

// TestFirst: the decision that was made just now is not made again.
func TestFirst(t *testing.T) {
	d := New(clocktesting.NewFakeClock(time.Unix(0, 0)), func(context.Context) (Decided, error) {
		t.Error("it is made again")
		return Decided{}, nil
	}, readAt(time.Unix(0, 0)))
	if _, why, err := d.Enter(t.Context(), keep); err != nil || why != "it is used by now" {
		t.Errorf("%q %v", why, err)
	}
}

// TestFault: what could not be decided again is not tried once more, and nothing is touched.
func TestFault(t *testing.T) {
	boom, tries := errors.New("boom"), 0
	d := New(clocktesting.NewFakeClock(time.Unix(0, 0)), func(context.Context) (Decided, error) { tries++; return Decided{}, boom }, Decided{})
	for range 2 {
		leave, why, err := d.Enter(t.Context(), take)
		if leave != nil || why != "" || !Is(err) || !errors.Is(err, boom) || tries != 1 {
			t.Errorf("%q %v, after %d tries", why, err, tries)
		}
	}
	if Is(boom) {
		t.Error("any error is one")
	}
}

// TestWhileTouching: a new decision waits for who touches an object because of the one before.
func TestWhileTouching(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	left := false
	d := New(clk, func(context.Context) (Decided, error) {
		if !left {
			t.Error("it is decided while an object is touched")
		}
		return readAt(clk.Now()), nil
	}, readAt(clk.Now()))
	leave, _, err := d.Enter(t.Context(), take)
	if err != nil {
		t.Fatal(err)
	}
	clk.Step(maxAge + time.Second)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if next, _, err := d.Enter(t.Context(), take); err == nil {
			next()
		}
	}()
	left = true
	leave()
	<-done
}

// TestHold: a candidate that was held for more than a minute is decided on again, also while another one is held.
func TestHold(t *testing.T) {
	clk, decided := clocktesting.NewFakeClock(time.Unix(0, 0)), 0
	d := New(clk, func(context.Context) (Decided, error) { decided++; return readAt(clk.Now()), nil },
		Decided{func(stage.Candidate) string { return "" }, clk.Now()})
	first, second := d.Hold(keep), d.Hold(take)
	if first.IsValid() {
		t.Error("it is valid before it holds anything")
	}
	for _, hold := range []*Hold{first, second} {
		if why, err := hold.Renew(t.Context()); why != "" || err != nil || !hold.IsValid() {
			t.Fatalf("%q %v", why, err)
		}
	}
	clk.Step(maxAge + time.Second)
	if first.IsValid() || second.IsValid() {
		t.Error("they are valid after more than a minute")
	}
	renewed := make(chan string)
	go func() {
		why, err := first.Renew(t.Context())
		if err != nil {
			why = err.Error()
		}
		renewed <- why
	}()
	if why, err := second.Renew(t.Context()); why != "" || err != nil || !second.IsValid() {
		t.Errorf("%q %v", why, err)
	}
	if why := <-renewed; why != "it is used by now" || decided != 1 || first.IsValid() {
		t.Errorf("%q, after %d decisions", why, decided)
	}
	second.Leave()
	second.Leave() // again: nothing
}

// TestOneDecisionAtATime: while a new one is made, nothing keeps the memory of the one before.
func TestOneDecisionAtATime(t *testing.T) {
	clk, kept := clocktesting.NewFakeClock(time.Unix(0, 0)), false
	var d *Decision
	d = New(clk, func(context.Context) (Decided, error) {
		kept = kept || d.latest.Left != nil
		return readAt(clk.Now()), nil
	}, readAt(clk.Now()))
	clk.Step(2 * maxAge)
	leave, _, err := d.Enter(t.Context(), take)
	if err != nil || kept {
		t.Fatalf("the one before was kept: %t; %v", kept, err)
	}
	leave()
}
