// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	testingclock "k8s.io/utils/clock/testing"
)

func newTestFlow() *flow { return newFlow(testingclock.NewFakePassiveClock(time.Unix(0, 0))) }

// While the server is away one asks, nothing passes, and all go on when it is back.
func TestOneAsksForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const others = 16
		f := newTestFlow()
		var asked, asking, passed atomic.Int64
		answers := func(context.Context) bool {
			defer asking.Add(-1)
			if asking.Add(1) > 1 {
				t.Error("two ask at once")
			}
			n := asked.Add(1)
			if n == 2 {
				synctest.Wait() // all others have come
				if passed.Load() > 0 {
					t.Error("a request passed while the server was away")
				}
			}
			return n >= 3
		}
		var all sync.WaitGroup
		come := func(then func()) {
			all.Go(func() {
				for asked.Load() == 0 { // the first is on its way
					<-time.After(time.Millisecond)
				}
				then()
			})
		}
		for range others {
			come(func() {
				if away, err := f.untilAnswers(t.Context(), answers); !away || err != nil {
					t.Errorf("away: %t, %v", away, err)
				}
			})
		}
		come(func() {
			if err := f.pass(t.Context(), func() error { passed.Add(1); return nil }); err != nil {
				t.Error(err)
			}
		})
		if away, err := f.untilAnswers(t.Context(), answers); !away || err != nil {
			t.Errorf("away: %t, %v", away, err)
		}
		all.Wait()
		if asked.Load() != 3 || passed.Load() != 1 || f.passing != 0 || f.limit.now != parallel/2 {
			t.Errorf("it was asked %d times; %d passed, %d are passing, and the limit is %d", asked.Load(), passed.Load(), f.passing, f.limit.now)
		}
	})
}

// Who waits stops with the run, and what was not sent says why.
func TestStoppedRunDoesNotWait(t *testing.T) {
	t.Parallel()
	f := newTestFlow()
	f.passing = parallel // there is no room
	cause := errors.New("the operator is stopping")
	ctx, stop := context.WithCancelCause(t.Context())
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := f.untilAnswers(ctx, func(context.Context) bool { return false }); !errors.Is(err, cause) {
				t.Errorf("it ends with %v", err)
			}
		})
		all.Go(func() {
			err := f.pass(ctx, func() error { t.Error("it was sent"); return nil })
			if !isUnsent(err) || !errors.Is(err, cause) {
				t.Errorf("it ends with %v", err)
			}
		})
	}
	stop(cause)
	all.Wait()
}

// A panic of a request gives its place to the next.
func TestPanicDoesNotKeepItsPlace(t *testing.T) {
	t.Parallel()
	f := newTestFlow()
	for range 2 * parallel {
		func() {
			defer func() { _ = recover() }()
			_ = f.pass(t.Context(), func() error { panic("broken") }) //nolint:forbidigo // what is tested
		}()
	}
	if f.passing != 0 {
		t.Errorf("%d requests are still on their way", f.passing)
	}
}
