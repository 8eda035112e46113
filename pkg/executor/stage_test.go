// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package executor

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	testingclock "k8s.io/utils/clock/testing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is an executor whose runs go on until the test ends them. What the test looks at stands still: every look first
// waits until no goroutine can go on by itself.
type stage struct {
	*Executor[string]
	t     *testing.T
	clock *testingclock.FakePassiveClock
	// stop ends Start and does not wait.
	stop context.CancelFunc

	mu         sync.Mutex
	calls, all []*call // calls are those since the last look
	finished   []string
	returned   bool
}

// call is one run that has begun.
type call struct {
	Request
	ctx   context.Context
	end   chan func() string
	again *Request // set before end
}

// onStage plays a scene with an executor of so many workers, and at its end sees that nothing is left running.
func onStage(t *testing.T, workers int, scene func(*stage)) {
	t.Helper()
	withRooms(t, Rooms{{Workers: workers}}, scene)
}

// withRooms is onStage with rooms for each lane.
func withRooms(t *testing.T, rooms Rooms, scene func(*stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, clock: testingclock.NewFakePassiveClock(time.Unix(1_700_000_000, 0))}
		s.Executor = New(rooms, s.run, s.onFinished, s.clock)
		ctx, cancel := context.WithCancel(t.Context())
		s.stop = cancel
		go func() {
			_ = s.Start(ctx)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.returned = true
		}()
		t.Cleanup(s.clear)
		scene(s)
	})
}

// clear ends what a scene left running, also one that failed.
func (s *stage) clear() {
	s.stop()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.all {
		select {
		case c.end <- func() string { return "left over" }:
		default:
		}
	}
}

func (s *stage) run(ctx context.Context, request Request) (string, *Request) {
	c := &call{Request: request, ctx: ctx, end: make(chan func() string, 1)}
	s.mu.Lock()
	s.calls, s.all = append(s.calls, c), append(s.all, c)
	s.mu.Unlock()
	value := (<-c.end)()
	return value, c.again
}

func (s *stage) onFinished(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = append(s.finished, name)
}

// submit asks for a run of the name, which is known to be quick, due so many seconds after the epoch.
func (s *stage) submit(name string, nominal int64) {
	s.Submit(Request{Name: name, Nominal: time.Unix(nominal, 0), Lane: LaneQuick})
}

// submitTo asks for runs of names in a lane, of so much weight each.
func (s *stage) submitTo(lane Lane, weight int64, names ...string) {
	for _, name := range names {
		s.Submit(Request{Name: name, Lane: lane, Weight: weight})
	}
}

// look returns the runs that began since the last look, by name.
func (s *stage) look() []*call {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	slices.SortFunc(calls, func(a, b *call) int { return strings.Compare(a.Name, b.Name) })
	return calls
}

// begun fails the test unless just the runs of these names began since the last look.
func (s *stage) begun(names ...string) []*call {
	s.t.Helper()
	calls := s.look()
	var got []string
	for _, c := range calls {
		got = append(got, c.Name)
	}
	if !slices.Equal(got, names) {
		s.t.Fatalf("runs of %v began, want %v", got, names)
	}
	return calls
}

// ended fails the test unless just the runs of these names were said to be finished since the last look, in this order.
func (s *stage) ended(names ...string) {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.finished, names) {
		s.t.Fatalf("%v finished, want %v", s.finished, names)
	}
	s.finished = nil
}

func (s *stage) hasReturned() bool {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.returned
}

// wantResult fails the test unless the last run of the name ended with the value and nominal time, and can be read twice.
func (s *stage) wantResult(name, value string, nominal int64) {
	s.t.Helper()
	synctest.Wait()
	for range 2 {
		result, ok := s.Result(name)
		if !ok || result.Err != nil || result.Value != value || result.Request.Nominal.Unix() != nominal {
			s.t.Fatalf("the result of %s is %+v (%v), want %q of %d", name, result, ok, value, nominal)
		}
	}
}

func (s *stage) wantNoResult(name string) {
	s.t.Helper()
	synctest.Wait()
	if result, ok := s.Result(name); ok {
		s.t.Fatalf("there is a result of %s: %+v", name, result)
	}
}

func (s *stage) wantActive(name string, want bool) {
	s.t.Helper()
	synctest.Wait()
	if request, ok := s.Active(name); ok != want || (ok && request.Name != name) {
		s.t.Fatalf("active run of %s: %+v, %v, want %v", name, request, ok, want)
	}
}

// finish lets the run return the value.
func (c *call) finish(value string) { c.end <- func() string { return value } }
