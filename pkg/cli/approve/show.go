// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package approve

import (
	"fmt"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/summary"
)

// show prints the plan of a run: what would be done to which objects.
func (o *options) show(run *v1alpha1.CleanerRun) {
	plan, counts := run.Status.Plan, run.Status.RunCounts
	deed, why := "delete", "WHY"
	if run.Spec.Action == v1alpha1.ActionTransform {
		deed, why = "change", "CHANGE"
	}
	out := o.Out
	if o.changed.IsAsked() { // which prints the CleanerApproval there
		out = o.ErrOut
	}
	fmt.Fprintf(out, "plan of run %s of cleaner %s: %s %s. It can be approved until %s\n\n", run.Name, run.Spec.Cleaner, deed,
		terminal.Grouped(plan.Objects, "object")+summary.Volumes(plan.VolumeBytes),
		plan.ExpirationTime.UTC().Format(time.RFC3339))
	rows := &terminal.Table{
		Out: out, Paint: o.Paint(out), Header: []string{"NAMESPACE", "KIND", "NAME", why},
	}
	listed := 0
	for i := range run.Status.Objects {
		object := &run.Status.Objects[i]
		if object.Outcome != v1alpha1.OutcomePlanned || o.limit > 0 && listed == o.limit {
			continue
		}
		listed++
		rows.Add([]terminal.Cell{
			{Text: object.Namespace}, {Text: object.Kind}, {Text: object.Name}, {Text: reason(run, object)},
		})
	}
	rows.Flush()
	if more := plan.Objects - int64(listed); more > 0 {
		fmt.Fprintf(o.ErrOut, "... and %s more; for all of them: --limit 0\n", terminal.Thousands(more))
	}
	if left := counts.Skipped + counts.Failed; left > 0 {
		o.Note("%s would be left alone: %s runs %s", terminal.Grouped(left, "more object"), terminal.Program, run.Name)
	}
}

// reason is why an object is in the plan or, of a change, what it is.
func reason(run *v1alpha1.CleanerRun, object *v1alpha1.ObjectOutcome) string {
	switch {
	case run.Spec.Action != v1alpha1.ActionTransform:
		return cluster.Why(run, object)
	case object.Change == "":
		return terminal.Because("not shown, because it may hold values of the Secret", object.Message)
	}
	return terminal.Because(object.Change, object.Message)
}
