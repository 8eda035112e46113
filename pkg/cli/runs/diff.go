// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Change is an object whose outcome is another than in the run before. Before or Now is nil when only the other run has
// the object.
type Change struct {
	Before, Now *v1alpha1.ObjectOutcome
}

// Comparison is how a run differs from another one.
type Comparison struct {
	// Changes are in the order of the run. Then come those that only the run before has.
	Changes []Change
	// Same is how many objects are the same.
	Same int
	// Unknown is how many objects one of the runs has at least of which the list of the other one, which is cut, says
	// nothing, and how many of its own objects that run does not list.
	Unknown int64
}

// Compare compares the objects that two runs list: those of which wants is true in either. What a run does not list is
// new or gone only if that run lists all its objects.
func Compare(before, now *v1alpha1.CleanerRun, wants func(*v1alpha1.ObjectOutcome) bool) (c Comparison) {
	onlyNow, onlyBefore := now.Status.ObjectsOmitted, before.Status.ObjectsOmitted
	for _, pair := range pairs(before.Status.Objects, now.Status.Objects) {
		switch {
		case !pair.has(wants):
		case pair.Before == nil && before.Status.ObjectsOmitted > 0:
			onlyNow++
		case pair.Now == nil && now.Status.ObjectsOmitted > 0:
			onlyBefore++
		case pair.isSame():
			c.Same++
		default:
			c.Changes = append(c.Changes, pair)
		}
	}
	c.Unknown = max(onlyNow, onlyBefore)
	return c
}

// pairs are all objects of two runs, in the order of the second one. Then come those that only the first one has.
func pairs(before, now []v1alpha1.ObjectOutcome) []Change {
	type key struct{ apiVersion, kind, namespace, name string }
	of := func(o *v1alpha1.ObjectOutcome) key { return key{o.APIVersion, o.Kind, o.Namespace, o.Name} }
	known, seen := map[key]*v1alpha1.ObjectOutcome{}, map[key]bool{}
	for i := range before {
		known[of(&before[i])] = &before[i]
	}
	all := make([]Change, 0, len(now))
	for i := range now {
		seen[of(&now[i])] = true
		all = append(all, Change{Before: known[of(&now[i])], Now: &now[i]})
	}
	for i := range before {
		if !seen[of(&before[i])] {
			all = append(all, Change{Before: &before[i]})
		}
	}
	return all
}

func (c Change) has(wants func(*v1alpha1.ObjectOutcome) bool) bool {
	return c.Before != nil && wants(c.Before) || c.Now != nil && wants(c.Now)
}

func (c Change) isSame() bool {
	return c.Before != nil && c.Now != nil && c.Before.Outcome == c.Now.Outcome &&
		cluster.IsSpared(c.Before) == cluster.IsSpared(c.Now)
}

// Since is the time before which the runs were due that a run can be compared with. One that carries out a plan finds
// what the run found that made the plan, and all that planned the same since: it is compared with what was before.
func Since(run *v1alpha1.CleanerRun) time.Time {
	if plan := run.Spec.Plan; plan != nil {
		if at, ok := v1alpha1.RunTime(plan.Run); ok {
			return at
		}
	}
	return run.Spec.NominalTime.Time
}

// before is the run of the same Cleaner that ended last before the run.
func before(run *v1alpha1.CleanerRun, runs []v1alpha1.CleanerRun) (*v1alpha1.CleanerRun, error) {
	since := Since(run)
	for i := range runs { // the latest first
		r := &runs[i]
		if r.Spec.Cleaner == run.Spec.Cleaner && r.Status.Phase.Final() && r.Spec.NominalTime.Time.Before(since) {
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
	// Unknown is how many objects, at least, cannot be compared, because a run does not list all its objects.
	Unknown int64 `json:"unknown"`
}

type changedObject struct {
	Before v1alpha1.ObjectOutcome `json:"before"`
	Now    v1alpha1.ObjectOutcome `json:"now"`
}

func newDifference(run, last *v1alpha1.CleanerRun, compared Comparison) difference {
	d := difference{
		Run: run.Name, Before: last.Name, Same: compared.Same, Unknown: compared.Unknown,
		New: []v1alpha1.ObjectOutcome{}, Gone: []v1alpha1.ObjectOutcome{}, Changed: []changedObject{},
	}
	for _, c := range compared.Changes {
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
	inAnyOutcome := filter{namespaces: o.namespaces, kinds: o.kinds} // an object is not new because its outcome is
	for _, r := range []*v1alpha1.CleanerRun{last, run} {
		r.Status.Objects = inAnyOutcome.inOrder(r.Status.Objects)
	}
	compared := Compare(last, run, o.wants)
	switch d := newDifference(run, last, compared); o.output {
	case "json":
		err = terminal.WriteJSON(o.Out, d)
	case "yaml":
		err = terminal.WriteYAML(o.Out, d)
	default:
		o.printChanges(run, compared.Changes)
		fmt.Fprintf(o.ErrOut, "%s new, %s gone, %s changed, %s as before: run %s against run %s, %s before it\n",
			terminal.Thousands(int64(len(d.New))), terminal.Thousands(int64(len(d.Gone))),
			terminal.Thousands(int64(len(d.Changed))), terminal.Thousands(int64(d.Same)), run.Name, last.Name,
			duration.HumanDuration(run.Spec.NominalTime.Sub(last.Spec.NominalTime.Time)))
	}
	o.printUnknown(compared.Unknown, last, run)
	return firstOf(unread, err)
}

// printUnknown says how many objects cannot be compared, why, and what can be done.
func (o *options) printUnknown(unknown int64, last, run *v1alpha1.CleanerRun) {
	if unknown == 0 {
		return
	}
	var cut []string
	for _, r := range []*v1alpha1.CleanerRun{run, last} {
		if n := r.Status.ObjectsOmitted; n > 0 {
			cut = append(cut, fmt.Sprintf("run %s does not list %s of its objects", r.Name, terminal.Thousands(n)))
		}
	}
	o.Note("at least %s cannot be compared: %s. %s. %s preview %s --limit 0 lists all that match now",
		terminal.Grouped(unknown, "object"), strings.Join(cut, ", and "), whatIsKept, terminal.Program, run.Spec.Cleaner)
}

// printChanges prints the changes for people, at most --limit.
func (o *options) printChanges(run *v1alpha1.CleanerRun, changes []Change) {
	listed := changes
	if o.limit > 0 && len(changes) > o.limit {
		listed = changes[:o.limit]
	}
	o.tableOf(run, listed)
	if more := len(changes) - len(listed); more > 0 {
		fmt.Fprintf(o.ErrOut, "... and %s more; for all of them: %s runs %s --diff --limit 0; for some: --outcome, --namespace, --kind\n",
			terminal.Thousands(int64(more)), terminal.Program, run.Name)
	}
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
		return string(o.Outcome) + " (protected)"
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
