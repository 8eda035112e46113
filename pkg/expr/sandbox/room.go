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

// room is the memory that sessions reserve for their children. A part of it is for small children alone: sessions with large
// ones, such as those of aggregated scripts over many objects, may work and wait for each other for minutes, and must not keep the others waiting.
// Nor must those that are known to be slow, which have no part in it; the others can have it for a part of a large child. And of this part, where it is enough for two children, one
// is kept for sessions that are known to be quick.
type room struct {
	kept, small, large share

	mu sync.Mutex
	// waiting are those who wait, the longest first.
	waiting []*waiter
}

// share is a part of the room, in bytes.
type share struct{ size, free int64 }

// wish is for memory in one of some shares, whichever has it first. Of a large wish, as much as a small child has may come from
// another share, unless others wait for that.
type wish struct {
	size   int64
	shares []*share
	also   *share // nil if none
}

// waiter waits for what it wishes.
type waiter struct {
	wish
	got chan reservation
}

func newRoom(size int64) *room {
	small := min(size, max(smallMemory, min(2*smallMemory, size-defaultMemory)))
	kept := max(0, small-smallMemory)
	small, large := small-kept, size-small
	return &room{kept: share{kept, kept}, small: share{small, small}, large: share{large, large}}
}

// total is all that sessions can reserve, in bytes.
func (r *room) total() int64 { return r.kept.size + r.small.size + r.large.size }

// reservation is memory that was reserved, and where.
type reservation struct {
	room *room
	from *share
	size int64 // bytes
	// also is where as much as a small child has came from besides. Nil if from nowhere else.
	also *share
}

func (r reservation) release() {
	if r.from == nil {
		return
	}
	r.room.mu.Lock()
	defer r.room.mu.Unlock()
	r.from.free += r.size
	if r.also != nil {
		r.also.free += smallMemory
	}
	r.room.serve()
}

// shares are where a small child of a session can have its memory, best first.
func (r *room) shares(size int64, pace Pace) []*share {
	switch {
	case pace.Slow && size <= r.large.size:
		return []*share{&r.large}
	case pace.Quick && size <= r.kept.size:
		return []*share{&r.kept, &r.small, &r.large}
	}
	return []*share{&r.small, &r.large}
}

// try reserves memory for a small child if that needs no waiting.
func (r *room) try(size int64, pace Pace) (reservation, bool) {
	if size > smallMemory {
		return reservation{}, false
	}
	return r.take(wish{size: size, shares: r.shares(size, pace)})
}

// take reserves memory in the first of the shares that has it, unless somebody waits for that share.
func (r *room) take(w wish) (reservation, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var promised []*share
	for _, other := range r.waiting {
		promised = append(promised, other.shares...)
	}
	return r.grant(w, promised)
}

// grant fulfils a wish if that can be done without the shares that are promised.
func (r *room) grant(w wish, promised []*share) (reservation, bool) {
	for _, from := range w.shares {
		if from.free >= w.size && !slices.Contains(promised, from) {
			from.free -= w.size
			return reservation{room: r, from: from, size: w.size}, true
		}
	}
	rest := w.size - smallMemory
	if w.also == nil || rest < 0 || w.also.free < smallMemory || slices.Contains(promised, w.also) {
		return reservation{}, false
	}
	for _, from := range w.shares {
		if from.free >= rest && !slices.Contains(promised, from) {
			from.free -= rest
			w.also.free -= smallMemory
			return reservation{r, from, rest, w.also}, true
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
func (r *room) reserve(ctx context.Context, size int64, pace Pace, waits func() (end func(context.Context))) (reservation, error) {
	want, most := wish{size: size, shares: []*share{&r.large}}, r.large.size
	switch {
	case size <= smallMemory:
		want.shares, most = r.shares(size, pace), max(r.small.size, r.large.size)
	case !pace.Slow:
		want.also = &r.small
	}
	if most = max(most, min(r.small.size, smallMemory)); size > most {
		return reservation{}, fmt.Errorf("a script may use %s, but of all memory for scripts only %s can be had: raise --max-script-memory",
			inMiB(size), inMiB(most))
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
