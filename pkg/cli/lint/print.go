// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// nextTimes is how many coming runs are listed.
const nextTimes = 5

// lintedCleaner is what there is to say about a Cleaner besides its problems.
type lintedCleaner struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Name string `json:"name"`
	// Schedule is in words. Next are the coming times. Both are empty when the schedule cannot be read.
	Schedule string      `json:"schedule"`
	Next     []time.Time `json:"next"`
	// Action is what it does. Empty when that is unknown.
	Action string `json:"action"`
	// ScanUntil is until when it only reports, although its action is another. Absent when it acts now.
	ScanUntil *time.Time `json:"scanUntil,omitempty"`

	errors int
	// until is spec.scanUntil, also when it is over. Zero when it is not set, or the action is not known.
	until, now time.Time
}

func linted(c *check.Result, now time.Time) lintedCleaner {
	l := lintedCleaner{
		File:   c.Document.File,
		Line:   c.Document.Line,
		Name:   c.Document.Name(),
		Next:   []time.Time{},
		errors: manifest.CountErrors(c.Problems),
		now:    now,
	}
	if c.KnowsAction() {
		l.Action = string(c.Cleaner.EffectiveAction())
		l.until = ptr.Deref(c.Cleaner.Spec.ScanUntil, metav1.Time{}).UTC()
	}
	if c.KnowsAction() && c.Cleaner.Observing(now) != "" {
		l.ScanUntil = &c.Cleaner.Spec.ScanUntil.Time
	}
	if c.Schedule != nil {
		l.Schedule, l.Next = c.Schedule.String(), c.Next(now, nextTimes)
	}
	return l
}

func (o *options) print(result *Result) error {
	if o.output == "json" {
		return terminal.WriteJSON(o.Out, result)
	}
	paint := o.Paint(o.Out)
	for i, p := range result.Problems {
		if i > 0 && p.File != result.Problems[i-1].File {
			fmt.Fprintln(o.Out)
		}
		check.Print(o.Out, paint, p)
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
	if !l.until.IsZero() {
		fmt.Fprintf(w, "  %s\n", l.observes())
	}
}

// observes says what spec.scanUntil means now.
func (l *lintedCleaner) observes() string {
	until, left := l.until.Format(time.RFC3339), l.until.Sub(l.now)
	switch {
	case l.Action == string(v1alpha1.ActionScan):
		return fmt.Sprintf("only reports, also after %s (spec.scanUntil), because its action is Scan", until)
	case left > 0:
		return fmt.Sprintf("only reports until %s (spec.scanUntil), for %s", until, duration.HumanDuration(left))
	}
	return fmt.Sprintf("acts: %s (spec.scanUntil) was %s ago", until, duration.HumanDuration(-left))
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
