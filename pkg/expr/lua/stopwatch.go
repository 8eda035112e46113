// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import "time"

const (
	// Patience is how many times its limit a script may take at most by the clock, when the machine is short of
	// processors.
	Patience = 4
	// readEvery is how often a Stopwatch asks at most how long the process has been at work: that takes as long as a small
	// script. So up to this much of what was before counts, too.
	readEvery = 100 * time.Millisecond
)

// Stopwatch says when the time for a script is over. It counts the time in which the process had a processor: where
// there are too few, or the process may use only a part of one, a script is not to blame for the rest.
type Stopwatch struct {
	began, read time.Time
	// worked is how long the process had been at work when that was read.
	worked time.Duration
}

// Begin begins to count.
func (w *Stopwatch) Begin(now time.Time) {
	w.began = now
	if now.Sub(w.read) >= readEvery {
		w.read, w.worked = now, processTime()
	}
}

// Left is how much of the limit is left. Nothing is when Patience times the limit has passed by the clock.
func (w *Stopwatch) Left(now time.Time, limit time.Duration) time.Duration {
	if now.Sub(w.began) >= Patience*limit {
		return 0
	}
	return max(0, limit-(processTime()-w.worked))
}
