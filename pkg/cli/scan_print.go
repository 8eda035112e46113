// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// print prints what was found, in the form of --output.
func (j *scanJob) print(r *scanResult) error {
	switch j.output {
	case "json":
		return writeJSON(j.Out, r)
	case "yaml":
		return writeYAML(j.Out, r)
	case "name":
		told := map[string]bool{} // an object may have findings of several types
		for i := range r.Findings {
			if line := oneLine(r.Findings[i].wanted().String()); !told[line] {
				fmt.Fprintln(j.Out, line)
				told[line] = true
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

// printTable prints findings in rows, the worst first, with an empty line between types, and below them those that are unknown.
func (j *scanJob) printTable(r *scanResult) {
	rows := &table{w: j.Out, paint: j.paint(j.Out), header: []string{"TYPE", "KIND", "NAMESPACE", "NAME", "AGE"}}
	if j.output == "wide" {
		rows.header = append(rows.header, "SINCE", "CONFIDENCE", "FREES", "MANAGED BY")
	}
	rows.header = append(rows.header, "WHY")
	for i := range r.Findings {
		rows.add(j.row(rows.paint, &r.Findings[i]))
	}
	rows.flush()
	if len(r.Unknown) == 0 {
		return
	}
	if len(r.Findings) > 0 {
		fmt.Fprintln(j.Out)
	}
	fmt.Fprintln(j.Out, rows.paint.bold("UNKNOWN")+": not all that could use these objects could be read")
	unknown := &table{w: j.Out, paint: rows.paint, header: slices.Clone(rows.header)}
	unknown.header[0] = "MAY BE"
	for i := range r.Unknown {
		unknown.add(j.row(rows.paint, &r.Unknown[i]))
	}
	unknown.flush()
}

func (j *scanJob) row(paint paint, f *scanFinding) []cell {
	typ := cell{text: string(f.Type)}
	if broken := slices.Index(worst, f.Type); broken < slices.Index(worst, "Unused") && len(f.of.Unknown) == 0 {
		typ.in = paint.red
	}
	row := []cell{typ, {text: f.Kind}, {text: f.Namespace}, {text: f.Name}, {text: j.ago(f.Created)}}
	if j.output == "wide" {
		frees := ""
		if f.Frees != nil {
			frees = strings.Join(f.Frees.words(), ", ")
		}
		row = append(row, cell{text: j.ago(f.Since)}, cell{text: string(f.Confidence)}, cell{text: frees}, cell{text: f.ManagedBy})
	}
	if j.output == "wide" {
		return append(row, cell{text: f.why()})
	}
	return append(row, cell{text: f.whyAndManager()})
}

func (j *scanJob) ago(t *time.Time) string {
	if t == nil {
		return ""
	}
	return duration.HumanDuration(max(0, j.Now().Sub(*t))) // clocks differ
}

// words are what is freed besides objects.
func (f *scanFrees) words() (words []string) {
	if f.VolumeBytes > 0 {
		words = append(words, resource.NewQuantity(f.VolumeBytes, resource.BinarySI).String()+" of volumes")
	}
	if f.LoadBalancers > 0 {
		words = append(words, counted(f.LoadBalancers, "load balancer"))
	}
	return words
}

// summary is one sentence about all of it.
func (j *scanJob) summary(r *scanResult) string {
	of := fmt.Sprintf("in %s of %s", grouped(r.Objects, "object"), counted(r.Kinds, "kind"))
	unknown := ""
	if n := int64(len(r.Unknown)); n > 0 {
		unknown = fmt.Sprintf(" Of %s it is unknown: not all that could use %s could be read.", grouped(n, "more object"), plural(n, "it", "them"))
	}
	if len(r.Findings) == 0 {
		return "No findings " + of + "." + unknown
	}
	var parts []string
	for _, t := range worst {
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
	text := fmt.Sprintf("%s %s: %s.", counted(len(r.Findings), "finding"), of, strings.Join(parts, ", "))
	if r.Frees.Objects > 0 {
		text += " Deleting what may be deleted would free " + strings.Join(append(r.Frees.words(), counted(r.Frees.Objects, "object")), ", ") + "."
	}
	return text + r.Requested.words() + unknown
}

// words are a sentence about what is requested in vain.
func (r *scanRequests) words() string {
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

// conclude tells people on the side what the result means and how to go on, and decides how the command exits.
func (j *scanJob) conclude(ctx context.Context, r *scanResult) error {
	if j.output != "markdown" {
		fmt.Fprintln(j.ErrOut, j.summary(r))
	}
	if r.Partial {
		j.note("this is partial: the scan was stopped before its end, and whatever was not read could change that")
		return context.Cause(ctx)
	}
	if r.BelowConfidence > 0 {
		j.note("%s less sure than %s, and not shown; to see all: --min-confidence Weak",
			grouped(int64(r.BelowConfidence), "more finding")+plural(int64(r.BelowConfidence), " is", " are"), j.minConfidence)
	}
	if err := j.tellUnread(ctx, r); err != nil {
		return err
	}
	if j.failOn > 0 && int64(len(r.Findings)) >= j.failOn {
		return quit(ExitFindings)
	}
	j.hint(r)
	return nil
}

// hint says how to go on, to people.
func (j *scanJob) hint(r *scanResult) {
	if len(r.Findings) == 0 || j.output != "table" && j.output != "wide" || j.failOn > 0 {
		return
	}
	bold := j.paint(j.ErrOut).bold("hint:")
	first := &r.Findings[max(0, slices.IndexFunc(r.Findings, func(f scanFinding) bool { return f.Type == v1alpha1.FindingUnused }))]
	where := []string{"from", "complete", "references", "operator-namespace", "kubeconfig", "context", "as"}
	fmt.Fprintf(j.ErrOut, "%s who uses one of them, and what was searched: %s why %s%s\n", bold, name, shellWord(oneLine(first.wanted().String())),
		given(j.flags, where...))
	which := append([]string{"namespace", "all-namespaces", "selector", "kind", "type", "min-confidence", "exclude"}, where...)
	fmt.Fprintf(j.ErrOut, "%s Cleaners that look for the same on a schedule: %s scan%s -o cleaner > cleaner.yaml\n", bold, name, given(j.flags, which...))
}

// given are those of the flags that were given, as they may be given again.
func given(flags *pflag.FlagSet, names ...string) string {
	var text strings.Builder
	for _, name := range names {
		flag := flags.Lookup(name)
		if flag == nil || !flag.Changed {
			continue
		}
		values := []string{flag.Value.String()}
		if several, ok := flag.Value.(pflag.SliceValue); ok {
			values = several.GetSlice()
		}
		for _, value := range values {
			switch {
			case flag.Value.Type() == "bool":
				fmt.Fprintf(&text, " --%s", name)
			case flag.Shorthand != "":
				fmt.Fprintf(&text, " -%s %s", flag.Shorthand, shellWord(oneLine(value)))
			default:
				fmt.Fprintf(&text, " --%s %s", name, shellWord(oneLine(value)))
			}
		}
	}
	return text.String()
}

// shellWord is a word that a shell takes as it is.
func shellWord(text string) string {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:", r)
	}) {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}
