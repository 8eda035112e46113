// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package broadcast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// server is what the lists of the tests are read from.
type server struct {
	// objects is how many there are, each of size bytes, and each is how long one takes.
	objects, size int
	each          time.Duration
	// The first cut lists but one begin anew in their middle. err is how each ends in its middle, and panics makes all but the first panic.
	cut    int
	err    error
	panics bool

	mu    sync.Mutex
	begun []time.Time
	sent  int
}

// begin takes note that a list begins, and returns its number.
func (s *server) begin() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = append(s.begun, time.Now())
	return len(s.begun) - 1
}

// list is a Source.
func (s *server) list(ctx context.Context, hearer Hearer) error {
	for {
		number := s.begin()
		if s.panics && number > 0 {
			panic("the server's client panicked") //nolint:forbidigo // what is tried
		}
		if err := hearer.Restart(); err != nil {
			return err
		}
		whole, err := s.send(ctx, number, hearer)
		if err != nil || whole {
			return err
		}
	}
}

// send sends the objects of one list. It is not whole when it has to begin anew.
func (s *server) send(ctx context.Context, number int, hearer Hearer) (whole bool, err error) {
	for i := range s.objects {
		if i == s.objects/2 {
			if s.err != nil {
				return false, s.err
			}
			if number > 0 && number <= s.cut {
				return false, nil
			}
		}
		if s.each > 0 {
			select {
			case <-time.After(s.each):
			case <-ctx.Done():
				return false, context.Cause(ctx)
			}
		}
		if err := hearer.Each(fmt.Appendf(nil, "%d|%d|%s", number, i, strings.Repeat("x", s.size))); err != nil {
			return false, err
		}
		s.mu.Lock()
		s.sent++
		s.mu.Unlock()
	}
	return true, nil
}

// count is how many lists began.
func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.begun)
}

// sentObjects is how many objects were sent.
func (s *server) sentObjects() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

func (s *server) beginning(number int) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun[number]
}

// wantRate fails the test if more than so many lists began in any second.
func (s *server) wantRate(t *testing.T, most int) {
	t.Helper()
	for i := range s.begun {
		n := 0
		for _, other := range s.begun[i:] {
			if other.Sub(s.begun[i]) < time.Second {
				n++
			}
		}
		if n > most {
			t.Errorf("%d lists began within a second, want at most %d", n, most)
		}
	}
}

// seen is what a run saw.
type seen struct {
	names    []string
	request  int
	restarts int
}

func (s *seen) restart() error {
	*s = seen{restarts: s.restarts + 1}
	return nil
}

func (s *seen) add(raw []byte) error {
	parts := strings.Split(string(raw), "|")
	request, err := strconv.Atoi(parts[0])
	if err != nil {
		return err
	}
	if len(s.names) > 0 && s.request != request {
		return errors.New("objects of two lists")
	}
	s.request, s.names = request, append(s.names, parts[1])
	return nil
}

func (s *seen) isWhole(objects int) bool {
	want := make([]string, objects)
	for i := range want {
		want[i] = strconv.Itoa(i)
	}
	return slices.Equal(s.names, want)
}

func (s *seen) isLast(objects int) bool { return len(s.names) == objects-1 }

func read(ctx context.Context, r *Run, key string, of *server) (*seen, error) {
	s := &seen{}
	return s, r.Read(ctx, key, of.list, Hearer{Restart: s.restart, Each: s.add})
}

// result is how one run's reading went.
type result struct {
	seen *seen
	err  error
}

// atOnce lets so many runs read at the same time.
func atOnce(t *testing.T, lists *Lists, n int, read func(i int) (*seen, error)) []result {
	t.Helper()
	results := make([]result, n)
	var group sync.WaitGroup
	for i := range n {
		leave := lists.Enter()
		group.Go(func() {
			defer leave()
			results[i].seen, results[i].err = read(i)
		})
		synctest.Wait() // so that they come in this order
	}
	group.Wait()
	return results
}

// afterAnother lets so many runs read one list, which begins after another run has begun the same.
func afterAnother(t *testing.T, of *server, lists *Lists, n int) []result {
	t.Helper()
	return afterAnotherWith(t, of, lists, n, func(_ int, s *seen, raw []byte) error { return s.add(raw) })
}

func afterAnotherWith(t *testing.T, of *server, lists *Lists, n int, each func(i int, s *seen, raw []byte) error) []result {
	t.Helper()
	another := lists.Run()
	another.waits.Store(0) // as if it had waited already
	lists.join(another, "key", nil)
	of.begin()
	return atOnce(t, lists, n, func(i int) (*seen, error) {
		s := &seen{}
		return s, lists.Run().Read(t.Context(), "key", of.list, Hearer{Restart: s.restart, Each: func(raw []byte) error { return each(i, s, raw) }})
	})
}
