// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"
)

// recorder is a terminal of which one can wait for the n-th thing written.
type recorder struct {
	mu      sync.Mutex
	text    strings.Builder
	written chan struct{}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.written <- struct{}{} }()
	return r.text.Write(p)
}

func (r *recorder) wait(t *testing.T) {
	t.Helper()
	select {
	case <-r.written:
	case <-time.After(time.Minute):
		t.Fatal("nothing was written")
	}
}

func TestProgress(t *testing.T) {
	const line = "reading Pod · 41,200 objects (38 match) · 4.1k/s · 10s"
	tests := map[string]struct {
		step time.Duration
		want string
	}{
		ProgressPlain:     {10 * time.Second, line + "\nROW\n"},
		ProgressJSON:      {10 * time.Second, `{"phase":"reading Pod","considered":41200,"matched":38,"perSecond":4120,"elapsedSeconds":10}` + "\nROW\n"},
		progressRewritten: {10 * time.Second, "\r\x1b[K" + line + "\r\x1b[KROW\n"},
	}
	for mode, test := range tests {
		t.Run(mode, func(t *testing.T) {
			w := &recorder{written: make(chan struct{}, 100)}
			clk := clocktesting.NewFakeClock(time.Unix(1e9, 0))
			screen, _ := newOutputs(w, nil)
			p := newProgress(screen, clk, mode, func() int { return 80 })
			p.Begin("reading Pod", true)
			p.Count(41_200, 38)
			clk.Step(test.step)
			w.wait(t)
			p.Beside(func() { fmt.Fprintln(w, "ROW") })
			p.Stop()
			if diff := cmp.Diff(test.want, w.text.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What takes but a moment says nothing, nor does anything that is asked to be quiet.
func TestProgressIsQuiet(t *testing.T) {
	for mode, step := range map[string]time.Duration{progressRewritten: 900 * time.Millisecond, ProgressNone: time.Hour, ProgressPlain: 9 * time.Second} {
		w := &recorder{written: make(chan struct{}, 100)}
		clk := clocktesting.NewFakeClock(time.Unix(1e9, 0))
		p := newProgress(w, clk, mode, func() int { return 80 })
		p.Begin("reading Pod", true)
		clk.Step(step)
		p.Stop()
		if w.text.Len() > 0 {
			t.Errorf("%s: %q", mode, w.text.String())
		}
	}
}

// TestProgressRepeatsLittle: where lines are added, the same is said once, and then once a minute.
func TestProgressRepeatsLittle(t *testing.T) {
	var w strings.Builder
	clk := clocktesting.NewFakeClock(time.Unix(1e9, 0))
	p := newProgress(&w, clk, ProgressNone, nil)
	p.mode = ProgressPlain
	ticks := func(n int) {
		for range n {
			clk.Step(progressLine)
			p.tick()
		}
	}
	p.Begin("waiting for the operator", false)
	ticks(8)
	p.Begin("waiting for the operator", false) // as after each look
	ticks(1)
	p.Begin("run a-1 is active", false)
	ticks(3)
	p.Begin("reading Pod", true)
	for range 2 {
		p.Count(10, 1)
		ticks(1)
	}
	want := "waiting for the operator · 10s\nwaiting for the operator · 1m10s\nrun a-1 is active · 10s\n" +
		"reading Pod · 10 objects (1 matches) · 1/s · 10s\nreading Pod · 20 objects (2 match) · 1/s · 20s\n"
	if diff := cmp.Diff(want, w.String()); diff != "" {
		t.Error(diff)
	}
}

func TestProgressFits(t *testing.T) {
	w := &recorder{written: make(chan struct{}, 100)}
	clk := clocktesting.NewFakeClock(time.Unix(1e9, 0))
	screen, _ := newOutputs(w, nil)
	p := newProgress(screen, clk, progressRewritten, func() int { return 20 })
	p.Begin("waiting for the operator", false)
	clk.Step(3 * time.Second)
	w.wait(t)
	p.Stop()
	if got, want := w.text.String(), "\r\x1b[Kwaiting for the op…\r\x1b[K"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
