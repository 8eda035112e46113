// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What one of them does is its own: it is stopped, or cannot go on, or panics, and the others get the whole list.
func TestOneThatLeavesLeavesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, lists := &fakeServer{objects: 50, each: 10 * time.Millisecond}, &Lists{}
		errOwn := errors.New("its own")
		stopped, stop := context.WithCancelCause(t.Context())
		others := atOnce(t, lists, 10, func(i int) (*seen, error) {
			s := &seen{}
			ctx := t.Context()
			if i == 3 {
				ctx = stopped
			}
			defer func() { _ = recover() }()
			return s, server.reader(t, "").Sharing(lists, "").list(ctx, everything, s.restart, func(raw []byte) error {
				switch {
				case i == 1 && len(s.names) == 20:
					return errOwn
				case i == 2 && len(s.names) == 20:
					panic("of a script's judge") //nolint:forbidigo // what is tried
				case i == 3 && len(s.names) == 20:
					stop(errors.New("the operator stops"))
				}
				return s.add(raw)
			})
		})
		for i, other := range others {
			switch {
			case i == 1 && (!errors.Is(other.err, errOwn) || !strings.HasPrefix(other.err.Error(), "listing ConfigMap (/api/v1/configmaps): ")):
				t.Errorf("the error is %v", other.err)
			case i == 3 && (other.err == nil || !strings.HasSuffix(other.err.Error(), "the operator stops")):
				t.Errorf("the error is %v", other.err)
			case (i == 0 || i > 3) && (other.err != nil || !other.seen.isWhole(50)):
				t.Errorf("%d saw %v: %v", i, other.seen.names, other.err)
			}
		}
		if n := server.count(); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}

// When all have left, nobody goes on reading.
func TestNobodyReadsOnForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, lists := &fakeServer{objects: 1000, each: time.Second}, &Lists{}
		ctx, stop := context.WithTimeoutCause(t.Context(), 3*time.Second, errors.New("it takes too long"))
		defer stop()
		for i, one := range atOnce(t, lists, 5, func(int) (*seen, error) {
			return read(ctx, server.reader(t, "").Sharing(lists, ""), everything)
		}) {
			if one.err == nil || !errors.Is(one.err, context.DeadlineExceeded) && !strings.Contains(one.err.Error(), "it takes too long") {
				t.Errorf("%d: %v", i, one.err)
			}
		}
		synctest.Wait() // and the test ends only when no goroutine is left
		if n := server.told(); n > 20 {
			t.Errorf("%d objects were read", n)
		}
	})
}

// A list that fails fails for all who hear it, with the same words.
func TestErrorOfTheListIsEverybodys(t *testing.T) {
	for name, broken := range map[string]struct {
		breaks func(*fakeServer)
		want   string
	}{
		"refused": {func(s *fakeServer) { s.status = 403 }, `listing ConfigMap (/api/v1/configmaps): `},
		"cut":     {func(s *fakeServer) { s.cutAlways = true }, `listing ConfigMap (/api/v1/configmaps): item 11: the response ended in the middle of the list: unexpected EOF`},
		"a fault": {func(s *fakeServer) { s.panics = true }, `listing ConfigMap (/api/v1/configmaps): a fault of KubeCleaner; please report it with the operator's log: the server's client panicked`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, lists := &fakeServer{objects: 20}, &Lists{}
				broken.breaks(server)
				defer lists.Enter()()
				defer lists.Enter()()
				others := afterAnother(t, server, lists, 5)
				for i, one := range others {
					if one.err == nil || !strings.HasPrefix(one.err.Error(), broken.want) {
						t.Errorf("%d: %v", i, one.err)
					}
				}
			})
		})
	}
}

// A list that breaks off in the middle begins anew for all, and nobody counts an object twice.
func TestListThatBeginsAnewDoesSoForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, lists := &fakeServer{objects: 300, size: 1000, cut: 2}, &Lists{}
		defer lists.Enter()()
		defer lists.Enter()()
		for i, one := range afterAnother(t, server, lists, 5) {
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
		server, lists := &fakeServer{objects: 500, size: 10_000}, &Lists{}
		defer lists.Enter()()
		defer lists.Enter()()
		begin := time.Now()
		ends := make([]time.Duration, 5)
		for i, one := range afterAnotherWith(t, server, lists, 5, func(i int, s *seen, raw []byte) error {
			if i == 0 {
				<-time.After(time.Second) // a slow script
			}
			if s.isLast(raw, 500) {
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
		if n := server.count(); n != 3 {
			t.Errorf("%d requests, want one before, one for all, and one for the slow one", n)
		}
	})
}

// Where all hear slowly, the list is read slowly: nobody reads for himself, and little is kept.
func TestListIsReadAsSlowlyAsAllHearIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, lists := &fakeServer{objects: 500, size: 10_000}, &Lists{}
		defer lists.Enter()()
		defer lists.Enter()()
		for i, one := range afterAnotherWith(t, server, lists, 5, func(_ int, s *seen, raw []byte) error {
			<-time.After(time.Millisecond)
			if ahead := server.told() - len(s.names); ahead*10_000 > maxAhead+4*partSize {
				t.Errorf("the list is %d objects ahead", ahead)
			}
			return s.add(raw)
		}) {
			if one.err != nil || !one.seen.isWhole(500) {
				t.Errorf("%d saw %d objects: %v", i, len(one.seen.names), one.err)
			}
		}
		if n := server.count(); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}
