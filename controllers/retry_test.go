// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// After an outage of an hour, or a conflict each time, no Cleaner waits for more than half a minute.
func TestRetriesBackOffAndComeSoon(t *testing.T) {
	t.Parallel()
	limiter, conflicts := newLimiter(), 0
	for name, next := range map[string]func() time.Duration{
		"failures":  func() time.Duration { return limiter.When(reconcile.Request{}) },
		"conflicts": func() time.Duration { conflicts++; return conflictDelay(conflicts) },
	} {
		var last time.Duration
		for n := range 200 {
			delay := next()
			switch {
			case n == 0 && delay != 50*time.Millisecond:
				t.Errorf("%s: the first retry comes after %s", name, delay)
			case n > 0 && delay != min(2*last, 30*time.Second):
				t.Fatalf("%s: retry %d comes after %s, the one before after %s", name, n, delay, last)
			}
			last = delay
		}
	}
}
