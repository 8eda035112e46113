// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package broadcast

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
)

// What one of them does is its own: it is stopped, or cannot go on, or panics, and the others get the whole list.
func TestOneThatLeavesLeavesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of, lists := &server{objects: 50, each: 10 * time.Millisecond}, New(clock.RealClock{})
		errOwn := errors.New("its own")
		stopped, stop := context.WithCancelCause(t.Context())
		others := atOnce(t, lists, 10, func(i int) (*seen, error) {
			s := &seen{}
			ctx := t.Context()
			if i == 3 {
				ctx = stopped
			}
			defer func() { _ = recover() }()
			return s, lists.Run().Read(ctx, "key", of.list, Hearer{Restart: s.restart, Each: func(raw []byte) error {
				switch {
				case i == 1 && len(s.names) == 20:
					return errOwn
				case i == 2 && len(s.names) == 20:
					panic("of a script's judge") //nolint:forbidigo // what is tried
				case i == 3 && len(s.names) == 20:
					stop(errors.New("the operator stops"))
				}
				return s.add(raw)
			}})
		})
		for i, other := range others {
			switch {
			case i == 1 && !errors.Is(other.err, errOwn):
				t.Errorf("the error is %v", other.err)
			case i == 3 && (other.err == nil || !strings.HasSuffix(other.err.Error(), "the operator stops")):
				t.Errorf("the error is %v", other.err)
			case (i == 0 || i > 3) && (other.err != nil || !other.seen.isWhole(50)):
				t.Errorf("%d saw %v: %v", i, other.seen.names, other.err)
			}
		}
		if n := of.count(); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}

// When all have left, nobody goes on reading.
func TestNobodyReadsOnForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of, lists := &server{objects: 1000, each: time.Second}, New(clock.RealClock{})
		ctx, stop := context.WithTimeoutCause(t.Context(), 3*time.Second, errors.New("it takes too long"))
		defer stop()
		for i, one := range atOnce(t, lists, 5, func(int) (*seen, error) {
			return read(ctx, lists.Run(), "key", of)
		}) {
			if one.err == nil || !errors.Is(one.err, context.DeadlineExceeded) && !strings.Contains(one.err.Error(), "it takes too long") {
				t.Errorf("%d: %v", i, one.err)
			}
		}
		synctest.Wait() // and the test ends only when no goroutine is left
		if n := of.sentObjects(); n > 20 {
			t.Errorf("%d objects were read", n)
		}
	})
}

// A list that fails fails for all who hear it, with the same words.
func TestErrorOfTheListIsEverybodys(t *testing.T) {
	for want, of := range map[string]*server{
		"refused": {objects: 20, err: errors.New("refused")},
		"a fault of KubeCleaner; please report it with the operator's log: the server's client panicked": {objects: 20, panics: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			lists := New(clock.RealClock{})
			defer lists.Enter()()
			defer lists.Enter()()
			for i, one := range afterAnother(t, of, lists, 5) {
				if one.err == nil || one.err.Error() != want {
					t.Errorf("%d: %v, want %s", i, one.err, want)
				}
			}
			if n := of.count(); n != 2 {
				t.Errorf("%d lists", n)
			}
		})
	}
}

// Who does not wait any longer for a list that is in trouble learns of that trouble.
func TestTroubleReachesWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lists, over := New(clock.RealClock{}), errors.New("the time is over")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, over)
		defer cancel()
		away := func(ctx context.Context, hearer Hearer) error {
			hearer.Trouble(func(cause error) error { return fmt.Errorf("tried once: %w", cause) })
			<-ctx.Done()
			return ctx.Err()
		}
		defer lists.Enter()() // so that the first one is not alone
		for i, one := range atOnce(t, lists, 3, func(int) (*seen, error) { return nil, lists.Run().Read(ctx, "key", away, Hearer{}) }) {
			if !errors.Is(one.err, over) || !strings.HasPrefix(one.err.Error(), "tried once: ") {
				t.Errorf("%d: %v", i, one.err)
			}
		}
	})
}

// A list that breaks off in the middle begins anew for all, and nobody counts an object twice.
func TestListThatBeginsAnewDoesSoForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of, lists := &server{objects: 300, size: 1000, cut: 2}, New(clock.RealClock{})
		defer lists.Enter()()
		defer lists.Enter()()
		for i, one := range afterAnother(t, of, lists, 5) {
			if one.err != nil || !one.seen.isWhole(300) || one.seen.restarts != 3 {
				t.Errorf("%d saw %d objects in %d lists: %v", i, len(one.seen.names), one.seen.restarts, one.err)
			}
		}
	})
}

// One that hears slowly holds the others up for a moment only, and no more of the list is kept for it than is allowed. It reads a
// list of its own then.
func TestSlowOneReadsForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of, lists := &server{objects: 500, size: 10_000}, New(clock.RealClock{})
		defer lists.Enter()()
		defer lists.Enter()()
		begin := time.Now()
		ends := make([]time.Duration, 5)
		for i, one := range afterAnotherWith(t, of, lists, 5, func(i int, s *seen, raw []byte) error {
			if i == 0 {
				<-time.After(time.Second) // a slow script
			}
			if s.isLast(500) {
				ends[i] = time.Since(begin)
			}
			return s.add(raw)
		}) {
			if one.err != nil || !one.seen.isWhole(500) {
				t.Errorf("%d saw %d objects: %v", i, len(one.seen.names), one.err)
			}
			if i > 0 && ends[i] > patience+time.Second {
				t.Errorf("%d was held up for %s", i, ends[i])
			}
		}
		if n := of.count(); n != 3 {
			t.Errorf("%d requests, want one before, one for all, and one for the slow one", n)
		}
	})
}

// Where all hear slowly, the list is read slowly: nobody reads for himself, and little is kept.
func TestListIsReadAsSlowlyAsAllHearIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of, lists := &server{objects: 500, size: 10_000}, New(clock.RealClock{})
		defer lists.Enter()()
		defer lists.Enter()()
		for i, one := range afterAnotherWith(t, of, lists, 5, func(_ int, s *seen, raw []byte) error {
			<-time.After(time.Millisecond)
			if ahead := of.sentObjects() - len(s.names); ahead*10_000 > maxAhead+4*partSize {
				t.Errorf("the list is %d objects ahead", ahead)
			}
			return s.add(raw)
		}) {
			if one.err != nil || !one.seen.isWhole(500) {
				t.Errorf("%d saw %d objects: %v", i, len(one.seen.names), one.err)
			}
		}
		if n := of.count(); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}
