// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// phaseWaiting is shown of a run that has no record yet, and phaseReading of one that has touched nothing yet.
const phaseWaiting, phaseReading = "Waiting", "Reading"

// printAll prints the runs of a Cleaner, or of all without a name; to people also those that wait, and why Cleaners
// only report, if they do.
func (o *options) printAll(ctx context.Context, api *cluster.Client, cleaner string, runs []v1alpha1.CleanerRun) error {
	if o.output != "table" && o.output != "wide" {
		return o.print(runs, nil)
	}
	waiting, notes := o.now(ctx, api, cleaner, runs)
	if err := o.print(runs, waiting); err != nil {
		return err
	}
	for _, note := range notes {
		o.Note("%s", terminal.OneLine(note))
	}
	return nil
}

// now are the runs of the Cleaner, or of all without a name, that have no record yet, and why Cleaners only report
// although they may say otherwise, of the named one also its spec.scanUntil. Nothing, when that cannot be read.
func (o *options) now(
	ctx context.Context,
	api *cluster.Client,
	cleaner string,
	runs []v1alpha1.CleanerRun,
) (waiting []v1alpha1.CleanerRun, notes []string) {
	off := ""

	recorded := map[string]bool{}
	for i := range runs {
		recorded[runs[i].Name] = true
	}
	_ = cluster.List[v1alpha1.CleanerList](ctx, api, cluster.CleanerPath(""), func(c *v1alpha1.Cleaner) {
		if cleaner != "" && c.Name != cleaner || !o.isChosen(c.Name) {
			return
		}
		if cleaner != "" {
			notes = append(notes, notesOf(c, o.Now())...)
		}
		off = cmp.Or(off, cluster.WhyOff(c))
		if active := c.Status.ActiveRun; active != nil && !recorded[active.Name] {
			run := v1alpha1.CleanerRun{ObjectMeta: metav1.ObjectMeta{Name: active.Name}}
			run.Spec.Cleaner, run.Spec.Action, run.Spec.NominalTime, run.Spec.Trigger = c.Name, c.Status.Action,
				active.NominalTime, active.Trigger
			run.Status.Phase = phaseWaiting
			waiting = append(waiting, run)
		}
	})
	if off != "" {
		notes = append(notes, "Cleaners only report now, because "+off)
	}
	return waiting, notes
}

// notesOf are what to know about a Cleaner beside its runs.
func notesOf(c *v1alpha1.Cleaner, now time.Time) (notes []string) {
	if why := c.Observing(now); why != "" {
		notes = append(notes, "Cleaner "+c.Name+": "+why)
	}
	if c.IsRunRequested() {
		notes = append(notes, "a run of Cleaner "+c.Name+" was asked for and has not begun; to take it back: "+
			terminal.Program+" cancel "+c.Name)
	}
	return notes
}

// print prints runs that have a record, and to people before them those that wait.
func (o *options) print(runs, waiting []v1alpha1.CleanerRun) error {
	list := v1alpha1.CleanerRunList{Items: runs}
	list.APIVersion, list.Kind = v1alpha1.GroupVersion.String(), "CleanerRunList"
	for i := range runs {
		runs[i].APIVersion, runs[i].Kind, runs[i].ManagedFields = list.APIVersion, "CleanerRun", nil
	}
	switch o.output {
	case "json":
		return terminal.WriteJSON(o.Out, list)
	case "yaml":
		return terminal.WriteYAML(o.Out, list)
	case "name":
		for i := range runs {
			fmt.Fprintln(o.Out, "cleanerrun/"+runs[i].Name)
		}
		return nil
	}
	if o.waiting {
		waiting = nil
	}
	if runs = append(waiting, runs...); len(runs) == 0 {
		o.Note("there are no runs%s", map[bool]string{true: " whose plan waits for approval"}[o.waiting])
		return nil
	}
	rows := &terminal.Table{
		Out:    o.Out,
		Paint:  o.Paint(o.Out),
		Header: []string{"NAME", "CLEANER", "ACTION", "PHASE", "WHEN", "MATCHED", "ACTED", "FAILED", "COPIES", "KEPT UNTIL"},
	}
	if o.output == "wide" {
		rows.Header = append(rows.Header, "TRIGGER", "SKIPPED", "STORAGE", "SIZE", "WHY")
	}
	for i := range runs {
		rows.Add(o.row(rows.Paint, &runs[i]))
	}
	rows.Flush()
	return nil
}

// phaseWords are how far the run has come and, when it did not do all that it was asked to do, why.
func phaseWords(run *v1alpha1.CleanerRun) string {
	switch phase := run.Status.Phase; phase {
	case "":
		return phaseReading
	case v1alpha1.RunFailed, v1alpha1.RunInterrupted:
		if reason := run.Status.Reason; reason != v1alpha1.ReasonFailed && reason != "" { // "Failed: Failed" says nothing
			return string(phase) + ": " + reason
		}
		return string(phase)
	case v1alpha1.RunCompleted:
		if reason := run.Status.Reason; reason != v1alpha1.ReasonCompleted && reason != "" { // what became of its plan
			return string(phase) + ": " + reason
		}
		return string(phase)
	default:
		return string(phase)
	}
}

func (o *options) row(paint terminal.Paint, run *v1alpha1.CleanerRun) []terminal.Cell {
	var copies, until, storage, size string
	if kept := run.Status.Copies; kept != nil {
		copies, until = fmt.Sprint(kept.Objects), kept.ExpirationTime.UTC().Format(time.RFC3339)
		storage, size = string(kept.Storage), resource.NewQuantity(kept.Bytes, resource.BinarySI).String()
		if kept.Dropped != "" {
			until = "dropped: " + kept.Dropped
		}
	}
	phase := terminal.Cell{Text: phaseWords(run)}
	switch run.Status.Phase {
	case v1alpha1.RunCompleted:
		phase.In = paint.Green
	case v1alpha1.RunFailed, v1alpha1.RunInterrupted:
		phase.In = paint.Red
	}
	counts := []terminal.Cell{{}, {}, {}} // a run that reads or waits has none yet
	if run.Status.Phase != "" && run.Status.Phase != phaseWaiting {
		counts = []terminal.Cell{
			{Text: fmt.Sprint(run.Status.Matched)},
			{Text: fmt.Sprint(run.Status.Acted)},
			{Text: fmt.Sprint(run.Status.Failed)},
		}
	}
	row := append([]terminal.Cell{
		{Text: run.Name},
		{Text: run.Spec.Cleaner},
		{Text: string(run.Spec.Action)},
		phase,
		{Text: duration.HumanDuration(max(0, o.Now().Sub(run.Spec.NominalTime.Time))) + " ago"}, // the clocks may differ
	}, append(counts, terminal.Cell{Text: copies}, terminal.Cell{Text: until})...)
	if o.output != "wide" {
		return row
	}
	return append(row, terminal.Cell{Text: string(run.Spec.Trigger)}, terminal.Cell{Text: fmt.Sprint(run.Status.Skipped)},
		terminal.Cell{Text: storage}, terminal.Cell{Text: size}, terminal.Cell{Text: whyOf(run)})
}

// whyOf is what a run says of itself or, before it does, what it is about to do.
func whyOf(run *v1alpha1.CleanerRun) string {
	switch run.Status.Phase {
	case phaseWaiting:
		return "it waits for its turn, and has touched nothing"
	case "":
		return cmp.Or(run.Status.Message, "it reads and judges, and has touched nothing")
	}
	return cmp.Or(run.Status.Message, run.Status.Reason)
}
