// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlimming gives memory back some time after the start and after the last of several runs, and now and then while there are always some.
func TestSlimming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var got []time.Duration
		s := newSlimming(func() { got = append(got, time.Since(begin)) })
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Start(ctx) }()
		at := func(after time.Duration, do func()) {
			<-time.After(time.Until(begin.Add(after)))
			do()
		}
		var first, second, third func()
		at(time.Minute, func() { first, second = s.run(), s.run() })
		at(2*time.Minute, func() { first() })
		at(3*time.Minute, func() { second() })
		at(3*time.Minute+slimAfter/2, func() { s.run()() })
		at(5*time.Minute, func() { third = s.run() })
		at(slimEvery+5*time.Minute, func() { third() })
		at(slimEvery+6*time.Minute, cancel)
		if err := <-done; err != nil {
			t.Error(err)
		}
		want := []time.Duration{slimAfter, 3*time.Minute + slimAfter/2 + slimAfter, slimEvery, slimEvery + 5*time.Minute + slimAfter}
		if !slices.Equal(got, want) {
			t.Errorf("after %s, want %s", got, want)
		}
	})
}
