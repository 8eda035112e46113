// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"slices"
	"time"
)

const (
	// parallel is how many requests of a run may be on their way at once, at most.
	parallel = 16
	// minRound is how many answers the parallelism is raised after at the least: one quick answer says nothing.
	minRound = 4
	// A server is slow when the median of a round is above slow and more than slower times the best of this run. Compared
	// with itself, because what is quick for one server, or one kind with its webhooks, is not for another; fourfold,
	// because sixteen requests at once take a healthy server up to that; and never below slow, because milliseconds are
	// noise.
	slow   = 200 * time.Millisecond
	slower = 4
)

// limit decides how many requests of a run may be on their way at once: half as many as soon as the server has no time
// or becomes slow, one more after each round of good answers. That is how TCP shares a line, and how many operators
// share a server with it.
type limit struct {
	now int
	// next is the number of the next request; since, of the first one after the limit was lowered: what was on its way
	// before says nothing of whether that was enough.
	next, since int
	// took is how long the requests of this round took; best, the lowest median of a round.
	took []time.Duration
	best time.Duration
}

func newLimit() limit { return limit{now: parallel} }

// number gives a request its number.
func (l *limit) number() int {
	l.next++
	return l.next - 1
}

// refused takes each answer that says that the server has no time.
func (l *limit) refused(number int) {
	if number >= l.since {
		l.lower()
	}
}

// answered takes every other answer, and how long it took.
func (l *limit) answered(number int, took time.Duration) {
	if number < l.since {
		return
	}
	l.took = append(l.took, took)
	if len(l.took) < max(minRound, l.now) {
		return
	}
	slices.Sort(l.took)
	median := max(l.took[len(l.took)/2], 1) // zero is no best yet
	l.took = nil
	switch isSlow := l.best > 0 && median > max(slow, slower*l.best); {
	case isSlow && l.now > 1:
		l.lower()
	case isSlow: // not because of this run: that is how fast the server is now
		l.best = median
	default:
		if l.best == 0 || median < l.best {
			l.best = median
		}
		l.now = min(l.now+1, parallel)
	}
}

// lower halves the limit.
func (l *limit) lower() {
	l.now, l.since, l.took = max(1, l.now/2), l.next, nil
}
