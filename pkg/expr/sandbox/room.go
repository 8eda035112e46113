// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Pace is what is known of how long a session takes. The zero value is that nothing is known.
type Pace struct{ Quick, Slow bool }

// room is the memory that sessions reserve for their children. A large child, such as that of an aggregated script over many objects, may
// work for minutes, and so may the child of a session that is known to be slow. They must not keep the others waiting: of the four shares each is for
// fewer sessions than the one before. General is for all, notSlow for those that are not known to be slow, small for the small ones of these,
// and quick for those of them that are known to be quick.
type room struct {
	general, notSlow, small, quick share

	mu sync.Mutex
	// waiting are those who wait, the longest first.
	waiting []*waiter
}

// share is a part of the room, in bytes.
type share struct{ size, free int64 }

// wish is for memory in one of some shares, whichever has it first.
type wish struct {
	size   int64
	shares []*share
}

// waiter waits for what it wishes.
type waiter struct {
	wish
	got chan reservation
}

// newRoom gives each share room for a small child, or for one as large as usual, as far as there is so much. All can have what is left.
func newRoom(size int64) *room {
	r := &room{}
	left := size
	for _, part := range []struct {
		of          *share
		least, most int64
	}{
		{&r.general, 0, defaultMemory},
		{&r.small, 0, smallMemory},
		{&r.quick, 0, smallMemory},
		{&r.notSlow, defaultMemory + smallMemory, defaultMemory},
		{&r.general, 0, size},
	} {
		if left >= part.least {
			part.of.size += min(part.most, left)
			left -= min(part.most, left)
		}
	}
	for _, of := range []*share{&r.general, &r.notSlow, &r.small, &r.quick} {
		of.free = of.size
	}
	return r
}

// total is all that sessions can reserve, in bytes.
func (r *room) total() int64 { return r.general.size + r.notSlow.size + r.small.size + r.quick.size }

// reservation is memory that was reserved, and where.
type reservation struct {
	room *room
	from *share
	size int64 // bytes
}

func (r reservation) release() {
	if r.from == nil {
		return
	}
	r.room.mu.Lock()
	defer r.room.mu.Unlock()
	r.from.free += r.size
	r.room.serve()
}

// shares are where a session can have memory, best first. Small says that its child is small, and not likely to work for long.
func (r *room) shares(small bool, pace Pace) []*share {
	switch {
	case pace.Slow:
		return []*share{&r.general}
	case small && pace.Quick:
		return []*share{&r.quick, &r.small, &r.notSlow, &r.general}
	case small:
		return []*share{&r.small, &r.general, &r.notSlow}
	case pace.Quick:
		return []*share{&r.notSlow, &r.general}
	}
	return []*share{&r.general, &r.notSlow} // it may hang, and then rather where others do
}

// take reserves memory in the first of the shares that has it, unless somebody waits for that share.
func (r *room) take(w wish) (reservation, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.grant(w, r.promised())
}

// grow exchanges what was reserved for more, all of it in one share: with a part in each, a child would leave no other large one room in any.
func (r *room) grow(has reservation, to wish) (reservation, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	has.from.free += has.size
	grown, ok := r.grant(to, r.promised())
	if !ok {
		has.from.free -= has.size
		return has, false
	}
	r.serve()
	return grown, true
}

// promised are the shares that somebody waits for.
func (r *room) promised() (shares []*share) {
	for _, w := range r.waiting {
		shares = append(shares, w.shares...)
	}
	return shares
}

// grant fulfils a wish if that can be done without the shares that are promised.
func (r *room) grant(w wish, promised []*share) (reservation, bool) {
	for _, from := range w.shares {
		if from.free >= w.size && !slices.Contains(promised, from) {
			from.free -= w.size
			return reservation{r, from, w.size}, true
		}
	}
	return reservation{}, false
}

// serve gives those who wait what there is. Who waits for a share comes before all who came later, so that a large child's turn comes.
func (r *room) serve() {
	var promised []*share
	r.waiting = slices.DeleteFunc(r.waiting, func(w *waiter) bool {
		granted, ok := r.grant(w.wish, promised)
		if ok {
			w.got <- granted
			return true
		}
		promised = append(promised, w.shares...)
		return false
	})
}

// reserve waits for memory. If it has to, it says so to waits, and when that has ended to what waits returned.
func (r *room) reserve(ctx context.Context, want wish, waits func() (end func(context.Context))) (reservation, error) {
	var most int64
	for _, from := range want.shares {
		most = max(most, from.size)
	}
	if want.size > most {
		return reservation{}, fmt.Errorf("a script may use %s, but of all memory for scripts only %s can be had: raise --max-script-memory",
			inMiB(want.size), inMiB(most))
	}
	if reserved, ok := r.take(want); ok {
		return reserved, nil
	}
	defer waits()(ctx)
	w := &waiter{want, make(chan reservation, 1)}
	r.mu.Lock()
	r.waiting = append(r.waiting, w)
	r.serve()
	r.mu.Unlock()
	select {
	case reserved := <-w.got:
		return reserved, nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	r.waiting = slices.DeleteFunc(r.waiting, func(other *waiter) bool { return other == w })
	r.serve() // who comes after it may fit
	r.mu.Unlock()
	select {
	case reserved := <-w.got: // it came at the last moment
		reserved.release()
	default:
	}
	return reservation{}, context.Cause(ctx)
}
