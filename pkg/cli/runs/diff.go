// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Change is an object whose outcome is another than in the run before. Before or Now is nil when only the other has it.
type Change struct {
	Before, Now *v1alpha1.ObjectOutcome
}

// Compare are the objects that differ, in the order of now, and how many are the same. Then come those that only the
// run before has.
func Compare(before, now []v1alpha1.ObjectOutcome) (changes []Change, same int) {
	type key struct{ apiVersion, kind, namespace, name string }
	of := func(o *v1alpha1.ObjectOutcome) key { return key{o.APIVersion, o.Kind, o.Namespace, o.Name} }
	known, seen := map[key]*v1alpha1.ObjectOutcome{}, map[key]bool{}
	for i := range before {
		known[of(&before[i])] = &before[i]
	}
	for i := range now {
		o := &now[i]
		seen[of(o)] = true
		switch was := known[of(o)]; {
		case was == nil || was.Outcome != o.Outcome || cluster.IsSpared(was) != cluster.IsSpared(o):
			changes = append(changes, Change{Before: was, Now: o})
		default:
			same++
		}
	}
	for i := range before {
		if !seen[of(&before[i])] {
			changes = append(changes, Change{Before: &before[i]})
		}
	}
	return changes, same
}

// before is the run of the same Cleaner that ended last before the run.
func before(run *v1alpha1.CleanerRun, runs []v1alpha1.CleanerRun) (*v1alpha1.CleanerRun, error) {
	for i := range runs { // the latest first
		r := &runs[i]
		if r.Spec.Cleaner == run.Spec.Cleaner && r.Status.Phase.Final() && r.Spec.NominalTime.Before(&run.Spec.NominalTime) {
			return r, nil
		}
	}
	return nil, terminal.Fail(codes.RunNotFound,
		fmt.Errorf("there is no run of cleaner %q before run %s on record", run.Spec.Cleaner, run.Name),
		"a Cleaner keeps as many runs as its spec.successfulRunsHistoryLimit and spec.failedRunsHistoryLimit say")
}

// difference is what -o json prints of two runs. The words are those of the table.
type difference struct {
	Run     string                   `json:"run"`
	Before  string                   `json:"before"`
	New     []v1alpha1.ObjectOutcome `json:"new"`
	Gone    []v1alpha1.ObjectOutcome `json:"gone"`
	Changed []changedObject          `json:"changed"`
	// Same is how many objects are as before.
	Same int `json:"same"`
}

type changedObject struct {
	Before v1alpha1.ObjectOutcome `json:"before"`
	Now    v1alpha1.ObjectOutcome `json:"now"`
}

func newDifference(run, last *v1alpha1.CleanerRun, changes []Change, same int) difference {
	d := difference{
		Run: run.Name, Before: last.Name, Same: same,
		New: []v1alpha1.ObjectOutcome{}, Gone: []v1alpha1.ObjectOutcome{}, Changed: []changedObject{},
	}
	for _, c := range changes {
		switch {
		case c.Before == nil:
			d.New = append(d.New, *c.Now)
		case c.Now == nil:
			d.Gone = append(d.Gone, *c.Before)
		default:
			d.Changed = append(d.Changed, changedObject{*c.Before, *c.Now})
		}
	}
	return d
}

// diff prints what is otherwise than in the run before.
func (o *options) diff(ctx context.Context, api *cluster.Client, run *v1alpha1.CleanerRun,
	runs []v1alpha1.CleanerRun,
) error {
	last, err := before(run, runs)
	if err != nil {
		return err
	}
	unread := firstOf(api.Fill(ctx, run), api.Fill(ctx, last))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	changes, same := Compare(o.inOrder(last.Status.Objects), o.inOrder(run.Status.Objects))
	switch d := newDifference(run, last, changes, same); o.output {
	case "json":
		err = terminal.WriteJSON(o.Out, d)
	case "yaml":
		err = terminal.WriteYAML(o.Out, d)
	default:
		o.tableOf(run, changes)
		fmt.Fprintf(o.ErrOut, "%s new, %s gone, %s changed, %s as before: run %s against run %s, %s before it\n",
			terminal.Thousands(int64(len(d.New))), terminal.Thousands(int64(len(d.Gone))),
			terminal.Thousands(int64(len(d.Changed))), terminal.Thousands(int64(same)), run.Name, last.Name,
			duration.HumanDuration(run.Spec.NominalTime.Sub(last.Spec.NominalTime.Time)))
	}
	for _, r := range []*v1alpha1.CleanerRun{run, last} {
		o.printOmitted(r)
	}
	return firstOf(unread, err)
}

// tableOf prints the changes for people.
func (o *options) tableOf(run *v1alpha1.CleanerRun, changes []Change) {
	rows := &terminal.Table{
		Out: o.Out, Paint: o.Paint(o.Out),
		Header: []string{"CHANGE", "NAMESPACE", "KIND", "NAME", "BEFORE", "NOW", "WHY"},
	}
	for _, c := range changes {
		at, what, paint := c.Now, "changed", rows.Paint.Yellow
		switch {
		case c.Before == nil:
			what, paint = "new", rows.Paint.Green
		case c.Now == nil:
			at, what, paint = c.Before, "gone", nil
		}
		row := []terminal.Cell{
			{Text: what, In: paint},
			{Text: at.Namespace},
			{Text: at.Kind},
			{Text: at.Name},
			{Text: outcomeOf(c.Before)},
			{Text: outcomeOf(c.Now)},
			{Text: ""},
		}
		if c.Now != nil {
			row[6].Text = cluster.Why(run, c.Now)
		}
		rows.Add(row)
	}
	rows.Flush()
}

func outcomeOf(o *v1alpha1.ObjectOutcome) string {
	switch {
	case o == nil:
		return ""
	case cluster.IsSpared(o):
		return "Matched (protected)"
	}
	return string(o.Outcome)
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
