// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

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
	// progressAfter is how long work must take before its progress is shown, and progressEvery how often a line is
	// rewritten.
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
	// progressLine is how often a line is added where none can be rewritten.
	progressLine = 10 * time.Second
	// progressRepeat is how often a line is added that says the same as the one before.
	progressRepeat = time.Minute
)

// The ways to show progress, and auto, which is one of them.
const (
	progressAuto  = "auto"
	ProgressPlain = "plain" // a line now and then
	ProgressJSON  = "json"  // the same as JSON
	ProgressNone  = "none"
	// progressRewritten is a line that is rewritten all the time. auto is that on a terminal, and plain elsewhere.
	progressRewritten = "rewritten"
)

// ProgressChoice is the flag that says how to show progress.
func ProgressChoice(mode *string) *Choice {
	return NewChoice(mode, progressAuto, ProgressPlain, ProgressJSON, ProgressNone)
}

// Progress reports how far work has come, once it takes longer than a moment.
type Progress struct {
	w     io.Writer
	erase string // what empties the line of a terminal
	clock clock.WithTicker
	mode  string
	// width is how wide the terminal is, in columns.
	width func() int
	// Stop ends it, and takes its line away.
	Stop func()

	mu sync.Mutex
	// whole is true of work whose phases count together, and only what was read.
	whole               bool
	phase               string
	since               time.Time // when the phase began
	counted             bool      // whether the phase counts
	considered, matched int64
	elsewhere           Measure // what is known of work that goes on elsewhere, instead of what was counted here
	shown               bool    // whether a line stands on the terminal
	// said is what the last line said, but for the time, and saidAt is when.
	said   string
	saidAt time.Time
}

// Measure is how far work has come that goes on elsewhere: as a line, and as what --progress=json prints.
type Measure interface {
	Line(took time.Duration) string
	Facts(took time.Duration) any
}

// StartProgress begins to report on work. The caller stops it.
func (s *Session) StartProgress(mode string) *Progress {
	file, isFile := fileOf(s.ErrOut)
	if mode == progressAuto {
		mode = ProgressPlain
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
	return newProgress(s.ErrOut, s.Clock, mode, width)
}

func newProgress(w io.Writer, clk clock.WithTicker, mode string, width func() int) *Progress {
	erase := ""
	if t, ok := w.(*output); ok {
		erase = t.mark + eraseLine
	}
	p := &Progress{w: w, erase: erase, clock: clk, mode: mode, width: width, since: clk.Now(), Stop: func() {}}
	if mode == ProgressNone {
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
	p.Stop = sync.OnceFunc(func() {
		ticker.Stop()
		close(done)
		<-ended
		p.Beside(func() {})
	})
	return p
}

// Together makes all phases one, of which only what was read is counted.
func (p *Progress) Together() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.whole = true
}

// Begin begins a phase, such as "reading ConfigMap". One that counts starts at zero.
func (p *Progress) Begin(phase string, counts bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.whole && p.phase != "" {
		p.phase = phase
		return
	}
	if p.phase != phase {
		p.phase, p.since, p.counted, p.considered, p.matched, p.elsewhere = phase, p.clock.Now(), counts, 0, 0, nil
	}
}

// Elsewhere says how far the work has come that the phase is about. Nil when that is not known.
func (p *Progress) Elsewhere(elsewhere Measure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.elsewhere = elsewhere
}

// Count adds to what was considered and to what matched.
func (p *Progress) Count(considered, matched int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.considered += considered
	p.matched += matched
}

// Beside does something that writes on the same terminal, with the line out of the way.
func (p *Progress) Beside(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, p.erase)
		p.shown = false
	}
	do()
}

func (p *Progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	took := p.clock.Since(p.since)
	if p.phase == "" || took < progressAfter {
		return
	}
	switch p.mode {
	case progressRewritten:
		fmt.Fprint(p.w, p.erase+fit(Clean(p.line(took)), p.width()-1))
		p.shown = true
	case ProgressJSON:
		_ = json.NewEncoder(p.w).Encode(p.facts(took)) // there is nowhere to report that this failed
	default:
		p.add(took)
	}
}

// add adds a line, if there is something new to say, or the last one is some time ago.
func (p *Progress) add(took time.Duration) {
	now, says := p.clock.Now(), p.line(0)
	if says == p.said && now.Sub(p.saidAt) < progressRepeat {
		return
	}
	p.said, p.saidAt = says, now
	fmt.Fprintln(p.w, p.line(took))
}

// progressFacts are what --progress=json prints.
type progressFacts struct {
	Phase          string  `json:"phase"`
	Considered     int64   `json:"considered"`
	Matched        int64   `json:"matched"`
	PerSecond      int64   `json:"perSecond"`
	ElapsedSeconds float64 `json:"elapsedSeconds"`
}

func (p *Progress) facts(took time.Duration) any {
	if p.elsewhere != nil {
		return p.elsewhere.Facts(took)
	}
	return progressFacts{
		p.phase,
		p.considered,
		p.matched,
		rate(p.considered, took),
		took.Round(100 * time.Millisecond).Seconds(),
	}
}

// line is "reading ConfigMap · 41,500 objects (38 match) · 4.1k/s · 12s".
func (p *Progress) line(took time.Duration) string {
	if p.elsewhere != nil {
		return p.elsewhere.Line(took)
	}
	parts := []string{p.phase}
	switch {
	case p.counted && p.whole:
		parts = append(parts, Grouped(p.considered, "object"), Short1000(rate(p.considered, took))+"/s")
	case p.counted:
		parts = append(
			parts,
			fmt.Sprintf("%s (%s)", Grouped(p.considered, "object"), MatchWords(p.matched)),
			Short1000(rate(p.considered, took))+"/s",
		)
	}
	return strings.Join(append(parts, took.Truncate(time.Second).String()), " · ")
}

func rate(n int64, took time.Duration) int64 {
	return int64(float64(n) / max(took.Seconds(), 1e-3))
}

// fit cuts text to a number of columns.
func fit(text string, columns int) string {
	if utf8.RuneCountInString(text) <= columns {
		return text
	}
	runes := []rune(text)
	return string(runes[:max(0, columns-1)]) + "…"
}
