// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// print prints what was found, in the form of --output.
func (j *job) print(r *Result) error {
	switch j.output {
	case "json":
		return terminal.WriteJSON(j.Out, r)
	case "yaml":
		return terminal.WriteYAML(j.Out, r)
	case "name":
		printed := map[string]bool{} // an object may have findings of several types
		for i := range r.Findings {
			if line := terminal.OneLine(r.Findings[i].Ref().String()); !printed[line] {
				fmt.Fprintln(j.Out, line)
				printed[line] = true
			}
		}
		return nil
	case "csv":
		return j.printCSV(r)
	case "markdown":
		j.printMarkdown(r)
		return nil
	case "cleaner":
		j.printCleaners(r)
		return nil
	}
	j.printTable(r)
	return nil
}

// printTable prints findings in rows, the worst first, with an empty line between types, and below them those that are
// unknown.
func (j *job) printTable(r *Result) {
	rows := &terminal.Table{
		Out:    j.Out,
		Paint:  j.Paint(j.Out),
		Header: []string{"TYPE", "KIND", "NAMESPACE", "NAME", "AGE"},
	}
	if j.output == "wide" {
		rows.Header = append(rows.Header, "SINCE", "CONFIDENCE", "FREES", "MANAGED BY")
	}
	rows.Header = append(rows.Header, "WHY")
	j.addRows(rows, r.Findings)
	rows.Flush()
	for i, section := range r.unknownSections() {
		if i > 0 || len(r.Findings) > 0 {
			fmt.Fprintln(j.Out)
		}
		fmt.Fprintln(j.Out, rows.Paint.Bold(strings.ToUpper(section.name))+": "+section.title)
		unknown := &terminal.Table{Out: j.Out, Paint: rows.Paint, Header: slices.Clone(rows.Header)}
		unknown.Header[0] = "MAY BE"
		j.addRows(unknown, section.of)
		unknown.Flush()
	}
}

// row is what the table says of a finding, or of many that are alike.
func (j *job) row(paint terminal.Paint, alike []search.Finding) []terminal.Cell {
	f := &alike[0]
	typ := terminal.Cell{Text: string(f.Type)}
	if broken := slices.Index(
		search.Worst,
		f.Type,
	); broken < slices.Index(search.Worst, "Unused") &&
		len(f.Of.Unknown) == 0 {
		typ.In = paint.Red
	}
	row := []terminal.Cell{typ, {Text: f.Kind}, {Text: f.Namespace}, {Text: called(alike)}, {Text: j.ages(alike)}}
	if j.output == "wide" {
		frees := ""
		if f.Frees != nil {
			frees = strings.Join(words(f.Frees), ", ")
		}
		row = append(
			row,
			terminal.Cell{Text: j.ago(f.Since)},
			terminal.Cell{Text: string(f.Confidence)},
			terminal.Cell{Text: frees},
			terminal.Cell{Text: f.Manager()},
		)
	}
	if j.output == "wide" {
		return append(row, terminal.Cell{Text: f.Why()})
	}
	return append(row, terminal.Cell{Text: f.WhyAndManager()})
}

func (j *job) ago(t *time.Time) string {
	if t == nil {
		return ""
	}
	return duration.HumanDuration(max(0, j.Now().Sub(*t))) // clocks differ
}

// words are what is freed besides objects.
func words(f *search.Frees) (words []string) {
	if f.VolumeBytes > 0 {
		words = append(words, resource.NewQuantity(f.VolumeBytes, resource.BinarySI).String()+" of volumes")
	}
	if f.LoadBalancers > 0 {
		words = append(words, terminal.Counted(f.LoadBalancers, "load balancer"))
	}
	return words
}

// summary is one sentence about all of it.
func (j *job) summary(r *Result) string {
	of := fmt.Sprintf("in %s of %s", terminal.Grouped(r.Objects, "object"), terminal.Counted(r.Kinds, "kind"))
	unknown := ""
	if n := int64(len(r.Unknown)); n > 0 {
		unknown = fmt.Sprintf(
			" It is unknown whether %s %s.",
			terminal.Grouped(n, "object"),
			terminal.Plural(n, "is a finding", "are findings"),
		)
	}
	if r.Objects == 0 {
		return j.nothing(r)
	}
	if len(r.Findings) == 0 {
		return "No findings " + of + "." + unknown
	}
	var parts []string
	for _, t := range search.Worst {
		n := 0
		for i := range r.Findings {
			if r.Findings[i].Type == t {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, t))
		}
	}
	text := fmt.Sprintf("%s %s: %s.", terminal.Counted(len(r.Findings), "finding"), of, strings.Join(parts, ", "))
	return text + r.freed() + r.Requested.words() + unknown
}

// words are a sentence about what is requested in vain.
func (r *Requests) words() string {
	if r == nil {
		return ""
	}
	var words []string
	if r.CPUMillis > 0 {
		words = append(words, resource.NewMilliQuantity(r.CPUMillis, resource.DecimalSI).String()+" of CPU")
	}
	if r.MemoryBytes > 0 {
		words = append(words, resource.NewQuantity(r.MemoryBytes, resource.BinarySI).String()+" of memory")
	}
	return " Pods that cannot run hold " + strings.Join(words, " and ") + "."
}

// conclude says on the side what the result means and how to go on, and decides how the command exits.
func (j *job) conclude(ctx context.Context, r *Result) error {
	if j.output != "markdown" {
		fmt.Fprintln(j.ErrOut, j.summary(r))
	}
	if j.shared {
		j.Note("objects that differ only in name and age share a row; to list each: --limit 0")
	}
	if r.Partial {
		j.Note("this is partial: the scan was stopped before its end, and whatever was not read could change that")
		return context.Cause(ctx)
	}
	if r.BelowConfidence > 0 {
		j.Note(
			"%s a lower confidence than %s, and %s not shown; to see all: --min-confidence Weak",
			terminal.Grouped(
				int64(r.BelowConfidence),
				"more finding",
			)+terminal.Plural(
				int64(r.BelowConfidence),
				" has",
				" have",
			),
			j.minConfidence,
			terminal.Plural(int64(r.BelowConfidence), "is", "are"),
		)
	}
	j.hintUndecided(r)
	if err := j.reportUnread(r); err != nil {
		return err
	}
	j.hint(r)
	switch {
	case len(r.Unknown) > 0: // the list is not whole, whatever is in it
		return terminal.Quit(codes.ExitPartial)
	case j.failOn > 0 && int64(len(r.Findings)) >= j.failOn:
		return terminal.Quit(codes.ExitFindings)
	}
	return nil
}

// narrowing are the flags that say what is shown, and what is read.
var narrowing = append(
	[]string{"namespace", "all-namespaces", "selector", "kind", "type", "min-confidence", "exclude"},
	search.Where...)

// hint says how to go on, to people.
func (j *job) hint(r *Result) {
	if len(r.Findings) == 0 || j.output != "table" && j.output != "wide" || j.failOn > 0 {
		return
	}
	bold := j.Paint(j.ErrOut).Bold("hint:")
	first := &r.Findings[max(0, slices.IndexFunc(r.Findings,
		func(f search.Finding) bool { return f.Type == v1alpha1.FindingUnused }))]
	fmt.Fprintf(
		j.ErrOut,
		"%s who uses one of them, and what was searched: %s why %s%s\n",
		bold,
		terminal.Program,
		terminal.ShellWord(terminal.OneLine(first.Ref().String())),
		search.Given(j.flags, search.Where...),
	)
	fmt.Fprintf(
		j.ErrOut,
		"%s Cleaners that look for the same on a schedule: %s scan%s -o cleaner > cleaner.yaml\n",
		bold,
		terminal.Program,
		search.Given(j.flags, narrowing...),
	)
}
