// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
	"k8s.io/utils/clock"
)

const (
	// progressAfter is how long work must take before its progress is shown, and progressEvery how often a line is rewritten.
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
	// progressLine is how often a line is added where none can be rewritten.
	progressLine = 10 * time.Second
)

// The ways to show progress, and auto, which is one of them.
const (
	progressAuto  = "auto"
	progressPlain = "plain" // a line now and then
	progressJSON  = "json"  // the same as JSON
	progressNone  = "none"
	// progressRewritten is a line that is rewritten all the time. auto is that on a terminal, and plain elsewhere.
	progressRewritten = "rewritten"
)

// progress tells how far work has come, once it takes longer than a moment.
type progress struct {
	w     io.Writer
	erase string // what empties the line of a terminal
	clock clock.WithTicker
	mode  string
	// width is how wide the terminal is, in columns.
	width func() int
	stop  func()

	mu sync.Mutex
	// whole is true of work whose phases count together, and only what was read.
	whole               bool
	phase               string
	since               time.Time // when the phase began
	counted             bool      // whether the phase counts
	considered, matched int64
	run                 *runProgress // what the record of a run says instead of what was counted here
	shown               bool         // whether a line stands on the terminal
}

// startProgress begins to tell about work. The caller stops it.
func (s *shared) startProgress(mode string) *progress {
	file, isFile := fileOf(s.ErrOut)
	if mode == progressAuto {
		mode = progressPlain
		if isFile && term.IsTerminal(int(file.Fd())) && s.Getenv("TERM") != "dumb" {
			mode = progressRewritten
		}
	}
	width := func() int {
		if isFile {
			if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
				return columns
			}
		}
		return 80
	}
	return newProgress(s.ErrOut, s.clock(), mode, width)
}

// clock is the one by which waiting is measured.
func (s *shared) clock() clock.WithTicker {
	if s.Clock != nil {
		return s.Clock
	}
	return clock.RealClock{}
}

func newProgress(w io.Writer, clk clock.WithTicker, mode string, width func() int) *progress {
	erase := ""
	if t, ok := w.(*terminal); ok {
		erase = t.mark + eraseLine
	}
	p := &progress{w: w, erase: erase, clock: clk, mode: mode, width: width, since: clk.Now(), stop: func() {}}
	if mode == progressNone {
		return p
	}
	every := progressLine
	if mode == progressRewritten {
		every = progressEvery
	}
	ticker, done, ended := clk.NewTicker(every), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-ticker.C():
				p.tick()
			}
		}
	}()
	p.stop = sync.OnceFunc(func() {
		ticker.Stop()
		close(done)
		<-ended
		p.beside(func() {})
	})
	return p
}

// together makes all phases one, of which only what was read is counted.
func (p *progress) together() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.whole = true
}

// begin begins a phase, such as "reading ConfigMap". One that counts starts at zero.
func (p *progress) begin(phase string, counts bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.whole && p.phase != "" {
		p.phase = phase
		return
	}
	if p.phase != phase {
		p.phase, p.since, p.counted, p.considered, p.matched, p.run = phase, p.clock.Now(), counts, 0, 0, nil
	}
}

// came says how far the run has come that the phase is about.
func (p *progress) came(run *runProgress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run = run
}

// count adds to what was considered and to what matched.
func (p *progress) count(considered, matched int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.considered += considered
	p.matched += matched
}

// beside does something that writes on the same terminal, with the line out of the way.
func (p *progress) beside(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, p.erase)
		p.shown = false
	}
	do()
}

func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	took := p.clock.Since(p.since)
	if p.phase == "" || took < progressAfter {
		return
	}
	switch p.mode {
	case progressRewritten:
		fmt.Fprint(p.w, p.erase+fit(clean(p.line(took)), p.width()-1))
		p.shown = true
	case progressJSON:
		_ = json.NewEncoder(p.w).Encode(p.facts(took)) // there is nobody to tell that telling failed
	default:
		fmt.Fprintln(p.w, p.line(took))
	}
}

// progressFacts are what --progress=json prints.
type progressFacts struct {
	Phase          string  `json:"phase"`
	Considered     int64   `json:"considered"`
	Matched        int64   `json:"matched"`
	PerSecond      int64   `json:"perSecond"`
	ElapsedSeconds float64 `json:"elapsedSeconds"`
}

func (p *progress) facts(took time.Duration) any {
	if p.run != nil {
		return p.run.facts(took)
	}
	return progressFacts{p.phase, p.considered, p.matched, rate(p.considered, took), took.Round(100 * time.Millisecond).Seconds()}
}

// line is "reading ConfigMap · 41,500 objects (38 match) · 4.1k/s · 12s".
func (p *progress) line(took time.Duration) string {
	if p.run != nil {
		return p.run.line(took)
	}
	parts := []string{p.phase}
	switch {
	case p.counted && p.whole:
		parts = append(parts, grouped(p.considered, "object"), short1000(rate(p.considered, took))+"/s")
	case p.counted:
		parts = append(parts, fmt.Sprintf("%s (%s)", grouped(p.considered, "object"), matchWords(p.matched)), short1000(rate(p.considered, took))+"/s")
	}
	return strings.Join(append(parts, took.Truncate(time.Second).String()), " · ")
}

func matchWords(n int64) string {
	if n == 1 {
		return "1 matches"
	}
	return thousands(n) + " match"
}

func rate(n int64, took time.Duration) int64 {
	return int64(float64(n) / max(took.Seconds(), 1e-3))
}

// short1000 writes 4123 as 4.1k.
func short1000(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 100_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%dk", n/1000)
}

// grouped is "1 object" or "41,500 objects".
func grouped(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return thousands(n) + " " + word + "s"
}

// thousands writes 41500 as 41,500.
func thousands(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// fit cuts text to a number of columns.
func fit(text string, columns int) string {
	if utf8.RuneCountInString(text) <= columns {
		return text
	}
	runes := []rune(text)
	return string(runes[:max(0, columns-1)]) + "…"
}
