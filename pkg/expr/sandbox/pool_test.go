// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiwait "k8s.io/apimachinery/pkg/util/wait"
)

// TestMemoryIsReserved lets sessions wait for each other's memory.
func TestMemoryIsReserved(t *testing.T) {
	p := newPool(t, Config{MaxMemory: compilerMemory + 2*smallMemory})
	use := func(ctx context.Context, s *Session) error {
		_, err := s.Evaluate(ctx, behave, configMap(t, "a", ""))
		return err
	}
	first, second, third := open(t, p, Options{}), open(t, p, Options{}), open(t, p, Options{})
	for _, s := range []*Session{first, second} {
		if err := use(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	late := errors.New("too late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, late)
	defer cancel()
	if err := use(ctx, third); !errors.Is(err, late) {
		t.Errorf("there was memory for a third child: %v", err)
	}
	time.AfterFunc(100*time.Millisecond, first.Close)
	if err := use(t.Context(), third); err != nil {
		t.Errorf("after one was closed: %v", err)
	}
	if problems, err := p.Compile(t.Context(), []Script{{Source: "x = 1"}}); err != nil || problems[0] != nil {
		t.Errorf("compiling must not wait: %v, %v", problems, err)
	}
}

// TestLargeOnesDoNotKeepSmallOnesWaiting lets aggregated scripts hang, of which one waits for the others.
func TestLargeOnesDoNotKeepSmallOnesWaiting(t *testing.T) {
	p := newPool(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	objects := someObjects(t, 30_000, 100)
	for range 3 {
		all.Go(func() {
			_, _ = open(t, p, Options{}).Choose(ctx, `function evaluate() while true do end end`, objects)
		})
	}
	awaitWaiting(t, p.room, 1)
	limit, stop := context.WithTimeout(t.Context(), 40*time.Second) // before the large ones are out of time
	defer stop()
	if _, err := open(t, p, Options{}).Evaluate(limit, behave, configMap(t, "a", "")); err != nil {
		t.Errorf("a small session beside two large ones: %v", err)
	}
	cancel()
	all.Wait()
}

// TestHangingAggregatesLeaveRoom lets aggregated scripts hang, over few objects, in all the memory that they can get.
func TestHangingAggregatesLeaveRoom(t *testing.T) {
	p := newPool(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 10 {
		a := open(t, p, Options{}).Aggregate(`function evaluate() while true do end end`)
		addAll(t, a, configMap(t, "a", ""))
		all.Go(func() { _, _ = a.Finish(ctx) })
	}
	awaitWaiting(t, p.room, 1)
	limit, stop := context.WithTimeout(t.Context(), 40*time.Second) // before they are out of time
	defer stop()
	for _, pace := range []Pace{{}, {Quick: true}} {
		if _, err := open(t, p, Options{Pace: pace}).Evaluate(limit, behave, configMap(t, "a", "")); err != nil {
			t.Errorf("%+v: %v", pace, err)
		}
	}
	cancel()
	all.Wait()
}

// TestWaited lets one session wait for another's memory, and tells the time of its waiting from that of its work.
func TestWaited(t *testing.T) {
	p := newPool(t, Config{MaxMemory: compilerMemory + smallMemory})
	first, second := open(t, p, Options{}), open(t, p, Options{})
	if _, err := first.Evaluate(t.Context(), behave, configMap(t, "a", "")); err != nil {
		t.Fatal(err)
	}
	if all, now := first.Waited(); all > time.Second || now {
		t.Errorf("with memory at once: %s, %v", all, now)
	}
	ended := make(chan error)
	go func() {
		_, err := second.Evaluate(t.Context(), behave, configMap(t, "a", ""))
		ended <- err
	}()
	awaitWaiting(t, p.room, 1)
	begun, now := second.Waited()
	if !now {
		t.Error("it does not wait")
	}
	const more = 3 * time.Second // much more than the work takes
	time.AfterFunc(more, first.Close)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	all, now := second.Waited()
	if all < begun+more-100*time.Millisecond || now || second.Took() >= all || second.Took() <= 0 {
		t.Errorf("it waited %s, %v, and was at work for %s", all, now, second.Took())
	}
}

// TestSlowOnesLeaveRoom lets sessions that are known to be slow have all the memory that they can get.
func TestSlowOnesLeaveRoom(t *testing.T) {
	r := newRoom(DefaultMaxMemory - compilerMemory)
	n := map[Pace]int{}
	for _, pace := range []Pace{{Slow: true}, {}, {Quick: true}} {
		for {
			if _, ok := r.take(wish{smallMemory, r.shares(true, pace)}); !ok {
				break
			}
			n[pace]++
		}
	}
	if diff := cmp.Diff(map[Pace]int{{Slow: true}: 5, {}: 5, {Quick: true}: 1}, n); diff != "" {
		t.Error(diff)
	}
}

// TestRoom divides the memory.
func TestRoom(t *testing.T) {
	for total, want := range map[int64][4]int64{ // in MiB: for all, not for slow ones, for small ones, for quick ones
		64: {64, 0, 0, 0}, 320: {256, 0, 64, 0}, 384: {256, 0, 64, 64}, 448: {320, 0, 64, 64}, 640: {512, 0, 64, 64}, 703: {575, 0, 64, 64},
		704: {320, 256, 64, 64}, 2048: {1664, 256, 64, 64},
	} {
		r := newRoom(total << 20)
		got := [4]int64{r.general.size >> 20, r.notSlow.size >> 20, r.small.size >> 20, r.quick.size >> 20}
		if got != want || r.total() != total<<20 || !r.isFree() {
			t.Errorf("%d MiB: %v, want %v", total, got, want)
		}
	}
}

// TestQuickOnesDoNotWaitForTheOthers lets sessions that are not known to be quick have all the memory that they can get.
func TestQuickOnesDoNotWaitForTheOthers(t *testing.T) {
	p := newPool(t, Config{})
	var held []reservation
	for {
		reserved, ok := p.room.take(wish{smallMemory, p.room.shares(true, Pace{})})
		if !ok {
			break
		}
		held = append(held, reserved)
	}
	late := errors.New("too late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, late)
	defer cancel()
	if _, err := open(t, p, Options{}).Evaluate(ctx, behave, configMap(t, "a", "")); !errors.Is(err, late) {
		t.Errorf("there was memory for one more: %v", err)
	}
	for range 2 {
		quick := open(t, p, Options{Pace: Pace{Quick: true}})
		if _, err := quick.Evaluate(t.Context(), behave, configMap(t, "a", "")); err != nil {
			t.Errorf("one that is quick: %v", err)
		}
		quick.Close()
	}
	for _, reserved := range held {
		reserved.release()
	}
}

// isFree reports whether nobody has any memory, or waits for it.
func (r *room) isFree() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.general.free == r.general.size && r.notSlow.free == r.notSlow.size && r.small.free == r.small.size &&
		r.quick.free == r.quick.size && len(r.waiting) == 0
}

// TestWhoWaitsTakesWhatComesFirst lets a quick session wait for memory, of which that comes free first which is not kept for such.
func TestWhoWaitsTakesWhatComesFirst(t *testing.T) {
	for name, which := range map[string]func(*room) *share{
		"quick":    func(r *room) *share { return &r.quick },
		"small":    func(r *room) *share { return &r.small },
		"not slow": func(r *room) *share { return &r.notSlow },
		"general":  func(r *room) *share { return &r.general },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(DefaultMaxMemory - compilerMemory)
			var held []reservation
			quick := wish{smallMemory, r.shares(true, Pace{Quick: true})}
			for {
				one, ok := r.take(quick)
				if !ok {
					break
				}
				held = append(held, one)
			}
			got := make(chan reservation)
			go func() {
				one, err := r.reserve(t.Context(), quick, silently)
				if err != nil {
					t.Error(err)
				}
				got <- one
			}()
			awaitWaiting(t, r, 1)
			i := slices.IndexFunc(held, func(one reservation) bool { return one.from == which(r) })
			held[i].release()
			held[i] = <-got
			for _, one := range held {
				one.release()
			}
			if !r.isFree() {
				t.Errorf("not all memory is free again: %+v", r)
			}
		})
	}
}

// silently is for who does not care whether it waits.
func silently() func(context.Context) { return func(context.Context) {} }

// awaitWaiting waits until so many, or more, wait for memory.
func awaitWaiting(t *testing.T, r *room, n int) {
	t.Helper()
	err := apiwait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.waiting) >= n, nil
	})
	if err != nil {
		t.Fatalf("%d do not wait for memory: %v", n, err)
	}
}

// TestLargeOnesHaveTheirTurn lets one with a large child wait for memory that small ones want too: those that come later do not
// pass it, unless it gives up.
func TestLargeOnesHaveTheirTurn(t *testing.T) {
	r := newRoom(DefaultMaxMemory - compilerMemory)
	slow := r.shares(true, Pace{Slow: true})
	one, ok := r.take(wish{smallMemory, slow})
	if !ok {
		t.Fatal("there is no memory")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := r.reserve(ctx, wish{r.general.size, slow}, silently)
		ended <- err
	}()
	awaitWaiting(t, r, 1)
	if _, ok := r.take(wish{smallMemory, slow}); ok {
		t.Error("a small one that came later passed it")
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it gave up with %v", err)
	}
	second, ok := r.take(wish{smallMemory, slow})
	if !ok {
		t.Error("nobody waits any more, and there is no memory for a small one")
	}
	one.release()
	if second.release(); !r.isFree() {
		t.Errorf("not all memory is free again: %+v", r)
	}
}

func TestTooMuchMemoryIsRefused(t *testing.T) {
	p := newPool(t, Config{MaxMemory: compilerMemory + smallMemory})
	_, err := open(t, p, Options{ObjectTimeout: 30 * time.Second}).Evaluate(t.Context(), behave, configMap(t, "a", "more"))
	want := "a script may use 256 MiB, but of all memory for scripts only 64 MiB can be had: raise --max-script-memory"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// TestNobodyWaitsForever lets many sessions, with two children each, want all the memory at once.
func TestNobodyWaitsForever(t *testing.T) {
	p := newPool(t, Config{MaxMemory: MinMaxMemory})
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			s := open(t, p, Options{ObjectTimeout: 30 * time.Second})
			defer s.Close()
			if !s.addWorker() && n == 0 {
				t.Error("there was no second child")
			}
			for range 3 {
				all.Go(func() {
					match, err := s.Evaluate(t.Context(), behave, configMap(t, "a", "more"))
					if err != nil && !errors.Is(err, ErrClosed) || err == nil && match.Message != "#900000" {
						t.Errorf("got %v, %v", match, err)
					}
				})
			}
			if match, err := s.Evaluate(t.Context(), behave, configMap(t, "a", "more")); err != nil || match.Message != "#900000" {
				t.Errorf("got %v, %v", match, err)
			}
		})
	}
	all.Wait()
}

// TestSecondChild lets a script be slower than the list.
func TestSecondChild(t *testing.T) {
	source := `function evaluate() local n = 0 for i = 1, 100000 do n = n + i end return {matching=true, message=obj.data.k} end`
	for name, c := range map[string]struct {
		memory  int64
		workers int
	}{"memory for two": {2 * smallMemory, 2}, "memory for one": {smallMemory, 1}} {
		t.Run(name, func(t *testing.T) {
			s := open(t, newPool(t, Config{MaxMemory: compilerMemory + c.memory}), Options{})
			next := 0
			stream := s.Stream(source, func(j Judged) error {
				if j.Err != nil || !strings.HasPrefix(j.Message, fmt.Sprint(next, " ")) {
					return fmt.Errorf("object %d: %v %w", next, j.Message, j.Err)
				}
				next++
				return nil
			})
			value := strings.Repeat("x", 4000)
			for i := range 400 {
				if err := stream.Add(t.Context(), configMap(t, "a", fmt.Sprint(i, " ", value))); err != nil {
					t.Fatal(err)
				}
			}
			if err := stream.Finish(t.Context()); err != nil || next != 400 {
				t.Errorf("%d judged, %v", next, err)
			}
			if s.workers != c.workers {
				t.Errorf("%d children", s.workers)
			}
		})
	}
}

// TestRest gives memory back while a session goes on.
func TestRest(t *testing.T) {
	p := newPool(t, Config{})
	s := open(t, p, Options{})
	for range 2 {
		if !s.addWorker() {
			t.Fatal("there was no second child")
		}
		if _, err := s.Evaluate(t.Context(), behave, configMap(t, "a", "")); err != nil {
			t.Error(err)
		}
		if s.Rest(); !p.room.isFree() {
			t.Errorf("not all memory is free: %+v", p.room)
		}
		if err := s.shrink(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
