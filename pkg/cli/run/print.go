// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// shownObjects is how many objects of a run are shown: more would push what it did out of the terminal.
const shownObjects = 20

// reportRun prints the record of a run, and returns an error if it did not do all that it was asked to do.
func (o *options) reportRun(record *v1alpha1.CleanerRun) error {
	if o.output == "table" {
		o.printObjects(record)
	}
	for _, n := range record.Status.Notifications {
		switch {
		case n.State == v1alpha1.NotificationFailed:
			o.Note("notification %s (%s) was not delivered: %s", terminal.OneLine(n.Name), n.Type, terminal.OneLine(n.Message))
		case n.State == v1alpha1.NotificationPending && n.Attempts > 0:
			o.Note(
				"notification %s (%s) could not be delivered yet: %s",
				terminal.OneLine(n.Name),
				n.Type,
				terminal.OneLine(n.Message),
			)
		}
	}
	took := ""
	if record.Status.Duration != nil {
		took = " after " + record.Status.Duration.Round(100*time.Millisecond).String()
	}
	if record.Status.Phase.Good() {
		fmt.Fprintf(o.ErrOut, "run %s ended%s: %s\n", record.Name, took, terminal.OneLine(record.Status.Message))
		if isAnyUnknown(&record.Status) { // as for scan
			return terminal.Quit(codes.ExitPartial)
		}
		return nil
	}
	f := &terminal.Failure{
		Exit: codes.ExitError,
		Code: codes.RunFailed,
		Err: fmt.Errorf(
			"run %s ended%s: %s: %s",
			record.Name,
			took,
			record.Status.Reason,
			terminal.OneLine(record.Status.Message),
		),
	}
	switch record.Status.Reason {
	case v1alpha1.ReasonPartiallyFailed, v1alpha1.ReasonViewIncomplete, v1alpha1.ReasonForbidden:
		f.Exit = codes.ExitPartial
	}
	f.Hint = afterRun(record)
	return f
}

// isAnyUnknown reports whether the run left objects alone because it is unknown whether they are findings.
func isAnyUnknown(status *v1alpha1.CleanerRunStatus) bool {
	ofObject := func(o v1alpha1.ObjectOutcome) bool { return o.Outcome == v1alpha1.OutcomeUnknown }
	ofTally := func(t v1alpha1.ObjectTally) bool { return t.Outcome == v1alpha1.OutcomeUnknown }
	return slices.ContainsFunc(status.Objects, ofObject) || slices.ContainsFunc(status.Tallies, ofTally)
}

// printForPrograms prints the record as --output says, if that is not a table. It is an error if the record lists fewer
// objects than it should, because the rest cannot be read.
func (o *options) printForPrograms(ctx context.Context, api *cluster.Client, record *v1alpha1.CleanerRun) error {
	switch o.output {
	case "json", "yaml":
		unread := api.Fill(ctx, record)
		return errors.Join(cluster.WriteRun(o.Out, o.output, record), unread)
	case "name":
		_, err := fmt.Fprintln(o.Out, "cleanerrun/"+record.Name)
		return err
	}
	return nil
}

// printObjects prints what became of the objects, the most notable first when that is not all of them.
func (o *options) printObjects(record *v1alpha1.CleanerRun) {
	rows := &terminal.Table{
		Out:    o.Out,
		Paint:  o.Paint(o.Out),
		Header: []string{"NAMESPACE", "KIND", "NAME", "OUTCOME", "WHY"},
	}
	objects, sizes := together(record.Status.Objects)
	listed := int64(len(record.Status.Objects))
	shown := slices.Clone(journal.MostNotable(objects, shownObjects))
	slices.SortStableFunc(shown, func(a, b v1alpha1.ObjectOutcome) int {
		return cmp.Compare(cluster.Rank(&a), cluster.Rank(&b)) // as runs shows them
	})
	for _, object := range shown {
		listed -= int64(max(1, sizes[alikeOf(&object)]))
		rows.Add(
			[]terminal.Cell{
				{Text: object.Namespace},
				{Text: object.Kind},
				{Text: object.Name},
				{Text: string(object.Outcome), In: colourOf(rows.Paint, object.Outcome)},
				{Text: cluster.Why(record, &object)},
			},
		)
	}
	rows.Flush()
	o.reportRest(record, listed)
}

// reportRest says how many objects were not printed, of which so many are listed in the record, and where they are.
func (o *options) reportRest(record *v1alpha1.CleanerRun, listed int64) {
	where := terminal.Program + " runs " + record.Name + " --limit 0"
	if record.UID == "" { // there is no record, as summedUp found
		where = "kubectl get cleaner " + record.Spec.Cleaner + " -o yaml"
	}
	omitted := record.Status.ObjectsOmitted
	if stored := record.Status.OtherObjects; stored != nil { // runs lists these as well
		omitted, listed = max(0, omitted-stored.Objects), listed+min(omitted, stored.Objects)
	}
	switch {
	case omitted > 0 && record.Status.Intent != nil:
		fmt.Fprintf(
			o.ErrOut,
			"... and %s more; all that the run was going to touch: %s runs %s --limit 0\n",
			terminal.Thousands(listed+omitted),
			terminal.Program,
			record.Name,
		)
	case listed > 0 && omitted > 0:
		fmt.Fprintf(
			o.ErrOut,
			"... and %s more, %s of them in: %s\n",
			terminal.Thousands(listed+omitted),
			terminal.Thousands(listed),
			where,
		)
	case listed > 0:
		fmt.Fprintf(o.ErrOut, "... and %s more: %s\n", terminal.Thousands(listed), where)
	case omitted > 0:
		o.Note(
			"%s not listed: the CleanerRun has no room for %s. It lists failures first, and then the rarest outcomes; "+
				"%s preview %s --limit 0 lists all that match now",
			terminal.Grouped(omitted, "more object")+" "+terminal.Plural(omitted, "is", "are"),
			terminal.Plural(omitted, "it", "them"),
			terminal.Program,
			record.Spec.Cleaner,
		)
	}
}

// afterRun says how to go on after a run that did not do all that it was asked to do.
func afterRun(record *v1alpha1.CleanerRun) string {
	status, again := &record.Status, terminal.Program+" run "+record.Spec.Cleaner
	switch {
	case status.Reason == v1alpha1.ReasonActingStopped:
		return "the next run after this handles what still matches: " + terminal.Program + " resume"
	case status.Reason == v1alpha1.ReasonDeadlineExceeded && status.Acted == 0: // the next one would end in the same place
		return "the next run starts from the beginning: before it, raise activeDeadlineSeconds (at most 3600), " +
			"let the Cleaner select less by namespace, labelFilters or matchConditions, or make its script faster"
	case status.Phase == v1alpha1.RunInterrupted && status.Acted == 0:
		return "the next run starts from the beginning. To start one now: " + again
	case status.Phase == v1alpha1.RunInterrupted:
		return "the next run handles what still matches. To start one now: " + again
	}
	return "to see each object: " + terminal.Program + " runs " + record.Name
}

func colourOf(paint terminal.Paint, outcome v1alpha1.OutcomeResult) func(string) string {
	switch {
	case outcome == v1alpha1.OutcomeDeleted,
		outcome == v1alpha1.OutcomeTerminating,
		outcome == v1alpha1.OutcomeTransformed,
		outcome == v1alpha1.OutcomeMatched:
		return paint.Green
	case outcome.IsFailure(), outcome == v1alpha1.OutcomeNotEvaluated:
		return paint.Red
	}
	return nil
}

// reportEnd prints what the run did.
func (o *options) reportEnd(ctx context.Context, api *cluster.Client, f *follower, cleaner *v1alpha1.Cleaner) error {
	var record v1alpha1.CleanerRun
	err := api.Read(ctx, cluster.RunPath(f.run), &record)
	switch {
	case err == nil:
	case cleaner.Status.LastRun != nil && cleaner.Status.LastRun.Name == f.run:
		record = summedUp(cleaner)
		if !apierrors.IsNotFound(err) {
			o.Note("the CleanerRun cannot be read, so only what status.lastRun holds is shown: %s", err)
		}
	default:
		return cluster.RequestError("reading the CleanerRun "+f.run, err)
	}
	unprinted, ended := o.printForPrograms(ctx, api, &record), o.reportRun(&record)
	if unprinted != nil && ended != nil { // how the run ended matters more
		o.Note("%s", terminal.OneLine(unprinted.Error()))
	}
	return cmp.Or(ended, unprinted)
}

// summedUp is what a Cleaner's status knows of its last run.
func summedUp(cleaner *v1alpha1.Cleaner) v1alpha1.CleanerRun {
	last := cleaner.Status.LastRun
	record := v1alpha1.CleanerRun{
		Spec: v1alpha1.CleanerRunSpec{
			Cleaner:      cleaner.Name,
			Action:       last.Action,
			DryRun:       last.DryRun,
			DryRunReason: last.DryRunReason,
		},
	}
	record.Name = last.Name
	record.Status.RunCounts, record.Status.Objects = last.RunCounts, last.Matches
	record.Status.Duration = last.Duration
	if omitted := last.Matched - int64(len(last.Matches)); omitted > 0 {
		record.Status.ObjectsOmitted = omitted
	}
	if condition := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionRunSucceeded); condition != nil {
		record.Status.Reason, record.Status.Message = condition.Reason, condition.Message
		record.Status.Phase = v1alpha1.RunFailed
		switch {
		case condition.Status == metav1.ConditionTrue:
			record.Status.Phase = v1alpha1.RunCompleted
		case condition.Reason == v1alpha1.ReasonAwaitingApproval:
			record.Status.Phase = v1alpha1.RunAwaitingApproval
		}
	}
	return record
}
