// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
)

// result is what -o json prints.
type result struct {
	Run     string           `json:"run"`
	Cleaner string           `json:"cleaner"`
	DryRun  bool             `json:"dryRun,omitempty"`
	Objects []restoredObject `json:"objects"`
}

type restoredObject struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Namespace  string         `json:"namespace,omitempty"`
	Name       string         `json:"name"`
	Step       restore.Step   `json:"step,omitempty"`
	Outcome    restore.Result `json:"outcome"`
	Reason     string         `json:"reason,omitempty"`
	Notes      []string       `json:"notes,omitempty"`
}

// print prints what became, or would become, of the objects.
func (o *options) print(run *v1alpha1.CleanerRun, plan *restore.Plan) error {
	result := result{Run: run.Name, Cleaner: run.Spec.Cleaner, DryRun: o.dryRun, Objects: []restoredObject{}}
	for _, i := range plan.Items {
		result.Objects = append(
			result.Objects,
			restoredObject{i.Kind.APIVersion(), i.Kind.Kind, i.Namespace, i.Name, i.Step, i.Result, i.Reason, i.Notes},
		)
	}
	switch o.output {
	case "json":
		return terminal.WriteJSON(o.Out, result)
	case "yaml":
		return terminal.WriteYAML(o.Out, result)
	case "name":
		for _, i := range plan.Items {
			if i.Result == restore.Restored || i.Result == restore.Planned {
				fmt.Fprintln(o.Out, terminal.OneLine(cluster.RefOf(i.Object).String()))
			}
		}
		return nil
	}
	o.table(plan, o.Out)
	return nil
}

// table prints the objects, those first that cannot be brought back, and says how many --limit leaves out.
func (o *options) table(plan *restore.Plan, w io.Writer) {
	items := plan.Items
	if o.limit > 0 && len(items) > o.limit {
		items = slices.Clone(items)
		slices.SortStableFunc(items, func(a, b *restore.Item) int { return rank(a) - rank(b) })
		items = items[:o.limit]
	}
	o.rows(plan, items, w).Flush()
	if more := int64(len(plan.Items) - len(items)); more > 0 {
		fmt.Fprintf(o.ErrOut, "... and %s more; --limit 0 lists all\n", terminal.Thousands(more))
	}
}

// rank is 0 for what a person must look at.
func rank(item *restore.Item) int {
	if item.Result.IsProblem() {
		return 0
	}
	return 1
}

// rows are the table of items of a plan, before or after it was carried out.
func (o *options) rows(plan *restore.Plan, items []*restore.Item, w io.Writer) *terminal.Table {
	rows := &terminal.Table{Out: w, Paint: o.Paint(w), Header: []string{"NAMESPACE", "KIND", "NAME", "OUTCOME", "WHY"}}
	if plan.Count(restore.Planned) > 0 {
		rows.Header[3] = "WOULD"
	}
	if o.output == "wide" {
		rows.Header = slices.Insert(rows.Header, 2, "APIVERSION")
	}
	for _, i := range items {
		row := []terminal.Cell{
			{Text: i.Namespace},
			{Text: i.Kind.Kind},
			{Text: i.Name},
			cell(rows.Paint, i, rows.Header),
			{Text: strings.Join(terminal.Compact(append([]string{i.Reason}, i.Notes...)), "; ")},
		}
		if o.output == "wide" {
			row = slices.Insert(row, 2, terminal.Cell{Text: i.Kind.APIVersion()})
		}
		rows.Add(row)
	}
	return rows
}

// cell is what becomes of an object; below WOULD, so that "would" can stand before it.
func cell(paint terminal.Paint, item *restore.Item, header []string) terminal.Cell {
	if !slices.Contains(header, "WOULD") {
		switch {
		case item.Result.IsProblem():
			return terminal.Cell{Text: string(item.Result), In: paint.Red}
		case item.Result == restore.Left:
			return terminal.Cell{Text: string(item.Result), In: nil}
		}
		return terminal.Cell{Text: string(item.Result), In: paint.Green}
	}
	switch {
	case item.Result == restore.Failed:
		return terminal.Cell{Text: "fail", In: paint.Red}
	case item.Result != restore.Planned:
		return terminal.Cell{Text: "stay as it is (" + string(item.Result) + ")", In: nil}
	case item.Step == restore.StepCreate:
		return terminal.Cell{Text: "be created", In: paint.Green}
	case item.Step == restore.StepOverwrite:
		return terminal.Cell{Text: "be overwritten", In: paint.Yellow}
	}
	return terminal.Cell{Text: "be restored", In: paint.Yellow}
}

// planSummary is "run x: 3 objects would be restored, 1 exists already".
func planSummary(run *v1alpha1.CleanerRun, plan *restore.Plan) string {
	parts := counts(plan)
	return fmt.Sprintf("run %s of cleaner %s: %s", run.Name, run.Spec.Cleaner, strings.Join(parts, ", "))
}

// counts are how many objects there are of each result, in words.
func counts(plan *restore.Plan) []string {
	var parts []string
	for _, of := range []struct {
		result    restore.Result
		one, many string
	}{
		{restore.Planned, "object would be restored", "objects would be restored"},
		{restore.Restored, "object was restored", "objects were restored"},
		{restore.Already, "is restored already", "are restored already"},
		{restore.Exists, "exists and differs", "exist and differ"},
		{restore.ChangedSince, "was edited since", "were edited since"},
		{restore.Left, "is not to be restored", "are not to be restored"},
		{restore.Failed, "failed", "failed"},
		{restore.Interrupted, "was not reached", "were not reached"},
	} {
		if n := plan.Count(of.result); n > 0 {
			parts = append(parts, terminal.Thousands(n)+" "+terminal.Plural(n, of.one, of.many))
		}
	}
	if len(parts) == 0 {
		return []string{"nothing"}
	}
	return parts
}

// allowWords are how to let Cleaners touch what was restored, up to the end of the annotation's name. They name the
// object if it is only one.
func allowWords(plan *restore.Plan) string {
	them, name := "them", "KIND NAME [-n NAMESPACE]"
	if plan.Count(restore.Restored) == 1 {
		i := slices.IndexFunc(plan.Items, func(i *restore.Item) bool { return i.Result == restore.Restored })
		item := plan.Items[i]
		them = "it"
		resource := schema.GroupResource{Group: item.Kind.Group, Resource: item.Kind.Resource}
		name = resource.String() + " " + terminal.ShellWord(item.Name)
		if item.Namespace != "" {
			name += " -n " + item.Namespace
		}
	}
	return fmt.Sprintf("%s until you allow it: kubectl annotate %s %s", them, terminal.OneLine(name),
		v1alpha1.RestoredFromAnnotation)
}

// conclusion says what was done, or returns an error if something is not as it was.
func (o *options) conclusion(run *v1alpha1.CleanerRun, plan *restore.Plan) error {
	summary := planSummary(run, plan)
	problems := plan.Count(restore.Exists, restore.ChangedSince, restore.Failed, restore.Interrupted)
	if len(o.only) > 0 {
		problems += plan.Count(restore.Left) // they were asked for
	} else {
		for _, item := range plan.Items {
			if item.IsMissing() {
				problems++
			}
		}
	}
	if problems == 0 {
		fmt.Fprintln(o.ErrOut, summary)
		if plan.Count(restore.Restored) > 0 {
			fmt.Fprintf(o.ErrOut, "%s no Cleaner touches %s-\n", o.Paint(o.ErrOut).Bold("hint:"), allowWords(plan))
		}
		return nil
	}
	f := &terminal.Failure{Exit: codes.ExitPartial, Code: codes.RestoreIncomplete, Err: fmt.Errorf("%s", summary)}
	if problems == int64(len(plan.Items)) {
		f.Exit = codes.ExitError
	}
	if plan.Count(restore.Exists, restore.ChangedSince) > 0 {
		f.Hint = "--force overwrites objects that differ from their copy, or that somebody edited since"
	}
	return f
}
