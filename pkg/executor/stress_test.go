// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package executor

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	stressNames   = 50
	stressSubmits = 200
)

// stress counts, for each name, the runs that go on at once, and remembers the last one.
type stress struct {
	t      *testing.T
	atOnce [stressNames]atomic.Int32
	runs   [stressNames]atomic.Int32
	last   [stressNames]atomic.Int64
	// open is how many names have not yet run what was submitted last.
	open sync.WaitGroup
}

func (s *stress) run(_ context.Context, request Request) (string, *Request) {
	var name int
	_, _ = fmt.Sscan(request.Name, &name)
	if n := s.atOnce[name].Add(1); n != 1 {
		s.t.Errorf("%s runs %d times at once", request.Name, n)
	}
	runtime.Gosched()
	nominal := request.Nominal.Unix()
	if before := s.last[name].Swap(nominal); before >= nominal {
		s.t.Errorf("%s ran %d after %d", request.Name, nominal, before)
	}
	s.runs[name].Add(1)
	s.atOnce[name].Add(-1)
	return request.Name, nil
}

func TestNeverTheSameNameTwiceAtOnce(t *testing.T) {
	s := &stress{t: t}
	s.open.Add(stressNames)
	var e *Executor[string]
	e = New(Rooms{{Workers: 8}}, s.run, func(name string) {
		if result, ok := e.Result(name); ok && result.Request.Nominal.Unix() == stressSubmits {
			s.open.Done()
		}
	}, stoppedClock{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = e.Start(ctx) }()

	for name := range stressNames {
		go func() {
			for i := range stressSubmits {
				e.Submit(Request{Name: fmt.Sprint(name), Nominal: time.Unix(int64(i+1), 0)})
				if i%7 == 0 {
					runtime.Gosched()
				}
			}
		}()
	}
	s.open.Wait()
	cancel()
	<-done
	for name := range stressNames {
		if n := s.runs[name].Load(); n < 1 || n > stressSubmits {
			t.Errorf("%d ran %d times for %d submits", name, n, stressSubmits)
		}
	}
}

// TestCancelAndForgetUnderStress mixes everything that other goroutines may do to a name.
func TestCancelAndForgetUnderStress(t *testing.T) {
	var atOnce atomic.Int32
	e := New(Rooms{{4, 40}, {3, 30}, {1, 10}}, func(ctx context.Context, request Request) (string, *Request) {
		if n := atOnce.Add(1); n != 1 {
			t.Errorf("it runs %d times at once", n)
		}
		defer atOnce.Add(-1)
		runtime.Gosched()
		var again *Request
		if request.Weight == 5 {
			again = &Request{Name: request.Name, Weight: 40}
		}
		return fmt.Sprint(context.Cause(ctx)), again
	}, func(string) {}, stoppedClock{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = e.Start(ctx) }()

	var others sync.WaitGroup
	for _, act := range []func(){
		func() { e.Submit(Request{Name: "a"}) }, func() { e.Submit(Request{Name: "a", Weight: 5, Lane: LaneQuick}) }, func() { e.Submit(Request{Name: "a", Manual: true}) },
		func() { e.Cancel("a", errGone) }, func() { e.Forget("a", errGone) },
		func() { e.Active("a") }, func() { e.Result("a") }, func() { _ = e.Overdue(time.Hour) }, func() { e.Lighten("a", 1) },
	} {
		others.Go(func() {
			for range 500 {
				act()
				runtime.Gosched()
			}
		})
	}
	others.Wait()
	cancel()
	<-done
	if e.queue.free != e.queue.own {
		t.Errorf("after all runs, %+v of %+v is free", e.queue.free, e.queue.own)
	}
	if _, ok := e.Active("a"); ok {
		t.Error("something is left after Start returned")
	}
}
