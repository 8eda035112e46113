// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Escape sequences.
const (
	bold  = "\x1b[1m"
	green = "\x1b[32m"
	dim   = "\x1b[2m"
	plain = "\x1b[0m"
)

// terminal is where the demo is shown.
type terminal struct {
	out   io.Writer
	color bool
}

func newTerminal(out *os.File) *terminal {
	info, err := out.Stat()
	tty := err == nil && info.Mode()&os.ModeCharDevice != 0
	return &terminal{out: out, color: tty && os.Getenv("NO_COLOR") == "" && !strings.EqualFold(os.Getenv("TERM"), "dumb")}
}

func (t *terminal) paint(style, text string) string {
	if !t.color {
		return text
	}
	return style + text + plain
}

func (t *terminal) title(text string) { fmt.Fprintf(t.out, "\n%s\n", t.paint(bold, text)) }

func (t *terminal) heading(text string) {
	fmt.Fprintf(t.out, "\n%s\n", t.paint(bold, "== "+text))
}

// say explains.
func (t *terminal) say(text string) {
	fmt.Fprintln(t.out, strings.TrimRight(text, "\n"))
}

// command shows a command line as one would type it.
func (t *terminal) command(line string) {
	fmt.Fprintln(t.out, t.paint(green, "$ "+line))
}

// output shows what a command printed.
func (t *terminal) output(text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprintln(t.out, "  "+strings.TrimRight(line, "\n "))
	}
}

// progress says what is being done, with a dot for each second that it takes; later, for each ten.
func (t *terminal) progress(what string, do func() error) error {
	start := time.Now()
	fmt.Fprint(t.out, t.paint(dim, what+" "))
	done := make(chan error, 1)
	go func() { done <- do() }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for seconds := 1; ; {
		select {
		case <-tick.C:
			if seconds <= 10 || seconds%10 == 0 {
				fmt.Fprint(t.out, t.paint(dim, "."))
			}
			seconds++
		case err := <-done:
			result := fmt.Sprintf(" %.1f s", time.Since(start).Seconds())
			if err != nil {
				result = " failed after" + result
			}
			fmt.Fprintln(t.out, t.paint(dim, result))
			return err
		}
	}
}
