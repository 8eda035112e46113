// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"
)

// Pace is what is known of how long a session takes. The zero value is that nothing is known.
type Pace struct{ Quick, Slow bool }

// room is the memory that sessions reserve for their children. A part of it is for small children alone: sessions with large
// ones, such as those of aggregated scripts, may work and wait for each other for minutes, and must not keep the others waiting.
// Nor must those that are known to be slow, which have no part in it. And of this part, where it is enough for two children, one
// is kept for sessions that are known to be quick.
type room struct {
	kept, small, large             *semaphore.Weighted
	keptSize, smallSize, largeSize int64 // bytes
}

func newRoom(size int64) room {
	small := min(size, max(smallMemory, min(2*smallMemory, size-defaultMemory)))
	kept := max(0, small-smallMemory)
	small, large := small-kept, size-small
	return room{semaphore.NewWeighted(kept), semaphore.NewWeighted(small), semaphore.NewWeighted(large), kept, small, large}
}

// reservation is memory that was reserved, and where.
type reservation struct {
	from *semaphore.Weighted
	size int64 // bytes
}

func (r reservation) release() {
	if r.from != nil {
		r.from.Release(r.size)
	}
}

// places are where a small child of a session can have its memory, best first.
func (r room) places(size int64, pace Pace) []*semaphore.Weighted {
	switch {
	case pace.Slow && size <= r.largeSize:
		return []*semaphore.Weighted{r.large}
	case pace.Quick && size <= r.keptSize:
		return []*semaphore.Weighted{r.kept, r.small, r.large}
	}
	return []*semaphore.Weighted{r.small, r.large}
}

// try reserves memory for a small child if that needs no waiting.
func (r room) try(size int64, pace Pace) (reservation, bool) {
	for _, from := range r.places(size, pace) {
		if size <= smallMemory && from.TryAcquire(size) {
			return reservation{from, size}, true
		}
	}
	return reservation{}, false
}

// reserve waits for memory.
func (r room) reserve(ctx context.Context, size int64, pace Pace) (reservation, error) {
	if reserved, ok := r.try(size, pace); ok {
		return reserved, nil
	}
	from, most := r.large, r.largeSize
	if size <= smallMemory {
		from, most = r.places(size, pace)[0], max(r.smallSize, r.largeSize)
	}
	if most = max(most, min(r.smallSize, smallMemory)); size > most {
		return reservation{}, fmt.Errorf("a script may use %s, but of all memory for scripts only %s can be had: raise --max-script-memory",
			inMiB(size), inMiB(most))
	}
	if from.Acquire(ctx, size) != nil {
		return reservation{}, context.Cause(ctx)
	}
	return reservation{from, size}, nil
}
