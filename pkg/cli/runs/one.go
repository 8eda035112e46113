// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// one prints one run with its objects: those that are asked for.
func (o *options) one(ctx context.Context, api *cluster.Client, run *v1alpha1.CleanerRun) error {
	if o.output == "name" {
		return o.print([]v1alpha1.CleanerRun{*run}, nil)
	}
	unread := api.Fill(ctx, run)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if o.output == "json" || o.output == "yaml" {
		return firstOf(o.oneForPrograms(run, unread == nil), unread)
	}
	o.reportRun(run)
	if objects := o.inOrder(run.Status.Objects); len(objects) > 0 {
		o.printObjects(run, objects)
	} else if !o.isEmpty() {
		o.reportNone(run)
	}
	if unread == nil { // which says it otherwise
		o.printOmitted(run, len(run.Status.Objects))
	}
	if ending := cluster.Ending(run); ending != "" && o.isEmpty() {
		o.Note("%s", ending)
	}
	return unread
}

// oneForPrograms prints the record with its objects.
func (o *options) oneForPrograms(run *v1alpha1.CleanerRun, complete bool) error {
	listed := len(run.Status.Objects)
	if !o.isEmpty() {
		run.Status.Objects = o.inOrder(run.Status.Objects)
	}
	if err := cluster.WriteRun(o.Out, o.output, run); err != nil {
		return err
	}
	if complete {
		o.printOmitted(run, listed)
	}
	return nil
}

// reportRun says what the run did, and what can be done about it.
func (o *options) reportRun(run *v1alpha1.CleanerRun) {
	status, took := &run.Status, ""
	if status.Duration != nil {
		took = ", took " + status.Duration.Round(100*time.Millisecond).String()
	}
	fmt.Fprintf(
		o.Out,
		"run %s of cleaner %s: %s, %s, %s ago%s\n",
		run.Name,
		run.Spec.Cleaner,
		run.Spec.Action,
		phaseWords(run),
		duration.HumanDuration(max(0, o.Now().Sub(run.Spec.NominalTime.Time))),
		took,
	)
	if spent := cluster.SpentOf(run).Words(); spent != "" {
		fmt.Fprintf(o.Out, "due %s, %s\n", run.Spec.NominalTime.UTC().Format(time.RFC3339), spent)
	}
	if plan := run.Spec.Plan; plan != nil && plan.By != "" {
		fmt.Fprintf(o.Out, "approved by %s: the plan of run %s\n", terminal.OneLine(plan.By), plan.Run)
	}
	if status.Message != "" {
		fmt.Fprintln(o.Out, terminal.OneLine(status.Message))
	}
	if kept := status.Copies; kept != nil && kept.Dropped == "" {
		fmt.Fprintf(o.Out, "copies of %s until %s: %s\n", terminal.Grouped(kept.Objects, "object"),
			kept.ExpirationTime.UTC().Format(time.RFC3339), o.Repeated(terminal.Program+" restore "+run.Name))
	}
}

// printObjects prints the objects or, when they are more than --limit, first how many are alike.
func (o *options) printObjects(run *v1alpha1.CleanerRun, objects []v1alpha1.ObjectOutcome) {
	fmt.Fprintln(o.Out)
	listed := objects
	if o.limit > 0 && len(objects) > o.limit {
		listed = objects[:o.limit]
		o.printGroups(run, objects)
	}
	rows := &terminal.Table{
		Out:    o.Out,
		Paint:  o.Paint(o.Out),
		Header: []string{"OUTCOME", "NAMESPACE", "KIND", "NAME", "WHY"},
	}
	for i := range listed {
		object := &listed[i]
		rows.Add([]terminal.Cell{
			{Text: string(object.Outcome), In: colourOf(rows.Paint, object.Outcome)},
			{Text: object.Namespace},
			{Text: object.Kind},
			{Text: object.Name},
			{Text: cluster.Why(run, object)},
		})
	}
	rows.Flush()
	if more := len(objects) - len(listed); more > 0 {
		which := "all of them"
		if run.Status.ObjectsOmitted > 0 {
			which = "all that the record lists"
		}
		fmt.Fprintf(
			o.ErrOut,
			"... and %s more; for %s: %s runs %s --limit 0; for some of them: --outcome, --namespace, --kind\n",
			terminal.Thousands(int64(more)),
			which,
			terminal.Program,
			run.Name,
		)
	}
}

// printGroups prints how many objects are alike.
func (o *options) printGroups(run *v1alpha1.CleanerRun, objects []v1alpha1.ObjectOutcome) {
	rows := &terminal.Table{
		Out:    o.Out,
		Paint:  o.Paint(o.Out),
		Header: []string{"OUTCOME", "KIND", "NAMESPACE", "OBJECTS", "WHY"},
	}
	for _, g := range o.groups(run, objects) {
		rows.Add([]terminal.Cell{
			{Text: string(g.of.Outcome), In: colourOf(rows.Paint, g.of.Outcome)},
			{Text: g.of.Kind},
			{Text: g.of.Namespace},
			{Text: g.size()},
			{Text: g.words()},
		})
	}
	rows.Flush()
	fmt.Fprintln(o.Out)
}

// whatIsKept says of which objects a record has only the counts.
const whatIsKept = "A CleanerRun has room for 256 KiB of objects. A run that deletes or changes objects stores the rest of those objects " +
	"elsewhere. A run that touches nothing, such as a Scan, stores up to 8 MiB elsewhere, and only for the latest two such runs of a Cleaner"

// printOmitted says how many objects of all are listed, why no more, and where to see them.
func (o *options) printOmitted(run *v1alpha1.CleanerRun, listed int) {
	omitted := run.Status.ObjectsOmitted
	if omitted == 0 {
		return
	}
	why := ": all that the run was going to touch, and of the others no more than fits into the 256 KiB of a CleanerRun"
	if run.Status.Intent == nil {
		why = ", because a CleanerRun has room for 256 KiB of objects; a run that touches nothing stores up to 8 MiB elsewhere, and only for the" +
			" latest two such runs of a Cleaner"
	}
	o.Note(
		"%s of %s are listed%s; status.tallies (-o json) counts all of them, and %s preview %s --limit 0 lists all that match"+
			" now",
		terminal.Thousands(int64(listed)),
		terminal.Grouped(int64(listed)+omitted, "object"),
		why,
		terminal.Program,
		run.Spec.Cleaner,
	)
}

func colourOf(paint terminal.Paint, outcome v1alpha1.OutcomeResult) func(string) string {
	switch outcome {
	case v1alpha1.OutcomeDeleted, v1alpha1.OutcomeTerminating, v1alpha1.OutcomeTransformed, v1alpha1.OutcomeMatched:
		return paint.Green
	case v1alpha1.OutcomeFailed, v1alpha1.OutcomeDenied, v1alpha1.OutcomeKindGone, v1alpha1.OutcomeNotEvaluated:
		return paint.Red
	}
	return nil
}
