// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// nextTimes is how many coming runs are told.
const nextTimes = 5

// lintedCleaner is what there is to tell of a Cleaner besides its problems.
type lintedCleaner struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Name string `json:"name"`
	// Schedule is in words. Next are the coming times. Both are empty when the schedule cannot be read.
	Schedule string      `json:"schedule"`
	Next     []time.Time `json:"next"`
	// Action is what it does. Empty when that cannot be told.
	Action string `json:"action"`

	errors int
	now    time.Time
}

func linted(c *checked, now time.Time) lintedCleaner {
	l := lintedCleaner{
		File: c.document.File, Line: c.document.Line, Name: c.document.Name(), Next: []time.Time{}, errors: manifest.CountErrors(c.problems), now: now,
	}
	if c.knowsAction() {
		l.Action = string(c.cleaner.EffectiveAction())
	}
	if c.schedule != nil {
		l.Schedule, l.Next = c.schedule.String(), c.next(now, nextTimes)
	}
	return l
}

func (o *lintOptions) print(result *lintResult) error {
	if o.output == "json" {
		return terminal.WriteJSON(o.Out, result)
	}
	paint := o.Paint(o.Out)
	for i, p := range result.Problems {
		if i > 0 && p.File != result.Problems[i-1].File {
			fmt.Fprintln(o.Out)
		}
		writeProblem(o.Out, paint, p)
	}
	for i, cleaner := range result.Cleaners {
		if i > 0 || len(result.Problems) > 0 {
			fmt.Fprintln(o.Out)
		}
		cleaner.write(o.Out, paint)
	}
	fmt.Fprintln(o.ErrOut, result.summary())
	return nil
}

// writeProblem writes it so that editors can jump to it: file:line:column: severity: ...
func writeProblem(w io.Writer, paint terminal.Paint, p manifest.Problem) {
	place := fmt.Sprintf("%s:%d", p.File, p.Line)
	if p.Column > 0 {
		place += fmt.Sprintf(":%d", p.Column)
	}
	severity := string(p.Code.Severity()) + ":"
	switch p.Code.Severity() {
	case codes.SeverityError:
		severity = paint.Red(severity)
	case codes.SeverityWarning:
		severity = paint.Yellow(severity)
	}
	var about []string
	for _, part := range []string{p.Cleaner, shortField(p.Field)} {
		if part != "" {
			about = append(about, part)
		}
	}
	words := strings.Join(append(about, p.Message), ": ")
	fmt.Fprintf(w, "%s: %s %s   [%s]\n", place, severity, words, p.Code)
	if p.Text != "" {
		number := fmt.Sprintf("%6d | ", p.Line)
		fmt.Fprintf(w, "%s%s\n", number, p.Text)
		if p.Column > 0 {
			fmt.Fprintf(w, "%s%s%s\n", strings.Repeat(" ", len(number)), caretIndent(p.Text, p.Column), paint.Red("^"))
		}
	}
	if p.Hint != "" {
		fmt.Fprintf(w, "  %s %s\n", paint.Bold("hint:"), p.Hint)
	}
}

// shortField leaves out what is the same in every Cleaner.
func shortField(field string) string {
	const set = "spec.resourcePolicySet."
	if strings.HasPrefix(field, selectorsField) || field == set+"aggregatedSelection" {
		return strings.TrimPrefix(field, set)
	}
	return field
}

// caretIndent is white space as wide as the text before the column: tabs stay tabs.
func caretIndent(text string, column int) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, terminal.Clean(text[:min(column-1, len(text))]))
}

func (l *lintedCleaner) write(w io.Writer, paint terminal.Paint) {
	title := fmt.Sprintf("%s (%s:%d)", cmp.Or(l.Name, "without a name"), l.File, l.Line)
	if l.Action != "" {
		title += ", action " + l.Action
	}
	if l.errors > 0 {
		title += ", " + paint.Red(terminal.Counted(l.errors, "error"))
	}
	fmt.Fprintf(w, "%s %s\n", paint.Bold("Cleaner"), title)
	if l.Schedule == "" {
		return
	}
	fmt.Fprintf(w, "  runs %s\n", l.Schedule)
	var times []string
	for _, t := range l.Next {
		times = append(times, short(t, l.now))
	}
	if len(times) > 0 {
		fmt.Fprintf(w, "  next %s (%s)\n", strings.Join(times, ", "), l.Next[0].Location())
	}
}

// short is a time on the wall clock of its zone, with the year only when it is another one.
func short(t, now time.Time) string {
	layout := "Mon 2 Jan 15:04"
	if t.Year() != now.In(t.Location()).Year() {
		layout = "Mon 2 Jan 2006 15:04"
	}
	if t.Second() != 0 {
		layout += ":05"
	}
	return t.Format(layout)
}
