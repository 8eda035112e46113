// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"testing"
	"time"
)

func TestStopwatch(t *testing.T) {
	const limit = 2 * time.Second
	now := time.Unix(1_800_000_000, 0)
	for name, c := range map[string]struct {
		passed, worked time.Duration
		least, atMost  time.Duration
	}{
		"at work all the time":        {limit, limit, 0, 0},
		"at work for longer":          {limit, 2 * limit, 0, 0},
		"no processor for a while":    {limit, limit / 2, limit / 4, limit / 2},
		"no processor at all":         {limit, 0, limit / 2, limit},
		"no processor for too long":   {Patience * limit, 0, 0, 0},
		"nearly that, and half of it": {Patience*limit - 1, limit / 2, limit / 4, limit / 2},
	} {
		var w Stopwatch
		w.Begin(now)
		w.worked = processTime() - c.worked
		if left := w.Left(now.Add(c.passed), limit); left < c.least || left > c.atMost {
			t.Errorf("%s: %s are left, want %s to %s", name, left, c.least, c.atMost)
		}
	}
}

// TestStopwatchReadsSeldom: what is asked of the kernel now and then counts for what begins a moment later.
func TestStopwatchReadsSeldom(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var w Stopwatch
	for passed, want := range map[time.Duration]time.Duration{readEvery - 1: 0, readEvery: readEvery} {
		w = Stopwatch{}
		w.Begin(now)
		w.Begin(now.Add(passed))
		if got := w.read.Sub(now); got != want || !w.began.Equal(now.Add(passed)) {
			t.Errorf("what begins after %s counts from %s on", passed, got)
		}
	}
}
