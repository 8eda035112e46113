// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"
)

// room is the memory that sessions reserve for their children. A part of it is for small children alone: sessions with large
// ones, such as those of aggregated scripts, may work and wait for each other for minutes, and must not keep the others waiting.
// Of that part, room for one child is kept for sessions that are known to be quick, where there is room for two: sessions
// whose scripts hang must not keep those waiting.
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

// try reserves memory for a small child if that needs no waiting.
func (r room) try(size int64, quick bool) (reservation, bool) {
	for _, from := range []*semaphore.Weighted{r.kept, r.small, r.large} {
		if size <= smallMemory && (quick || from != r.kept) && from.TryAcquire(size) {
			return reservation{from, size}, true
		}
	}
	return reservation{}, false
}

// reserve waits for memory.
func (r room) reserve(ctx context.Context, size int64, quick bool) (reservation, error) {
	if reserved, ok := r.try(size, quick); ok {
		return reserved, nil
	}
	from, most := r.large, r.largeSize
	switch {
	case size <= smallMemory && quick && size <= r.keptSize:
		from, most = r.kept, r.keptSize
	case size <= smallMemory:
		from, most = r.small, r.smallSize
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
