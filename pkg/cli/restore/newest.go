// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
)

// objectOf reads the argument as the name of an object. It is false of a run's name, also as kubectl prints it.
func objectOf(arg string) (cluster.Ref, bool) {
	ref, ok := cluster.ParseRef(arg)
	kind, _, _ := strings.Cut(strings.ToLower(ref.Kind), ".")
	return ref, ok && kind != "cleanerrun" && kind != "cleanerruns"
}

// newest finds the latest run that keeps a copy of the object, and plans to restore it from there.
func (o *options) newest(
	ctx context.Context,
	api *cluster.Client,
	restorer *restore.Restorer,
	ref cluster.Ref,
) (*v1alpha1.CleanerRun, *restore.Plan, error) {
	runs, err := api.Runs(ctx)
	if err != nil {
		return nil, nil, err
	}
	lost := ""
	for i := range runs {
		run := &runs[i]
		found, err := touchedBy(ctx, api, run, ref)
		if err != nil {
			return nil, nil, newerUnread(ctx, run, ref, err)
		}
		if found == nil {
			continue
		}
		plan, none, err := o.planOf(ctx, restorer, run, ref, *found)
		if err != nil || plan != nil {
			return run, plan, err
		}
		lost = cmp.Or(lost, none)
	}
	switch {
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case lost == "":
		return nil, nil, terminal.Fail(codes.RestoreNothing, fmt.Errorf("no run that keeps copies touched %s", ref),
			"write KIND/NAMESPACE/NAME, or KIND/NAME for one without a namespace; "+terminal.Program+" runs lists which runs keep copies")
	}
	err = fmt.Errorf("no run keeps a copy of %s; %s", ref, lost)
	return nil, nil, terminal.Fail(codes.RestoreNothing, err, applyAgain)
}

// newerUnread says why no older copy is taken for the newest: a newer run may have one, and cannot be read.
func newerUnread(ctx context.Context, run *v1alpha1.CleanerRun, ref cluster.Ref, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	hint := fmt.Sprintf("to restore an older copy, name its run: %[1]s restore RUN --only %[2]s; %[1]s runs lists which runs keep copies",
		terminal.Program, ref)
	if apierrors.IsForbidden(err) {
		hint = "its objects " + cluster.NeededRole(run) + "; " + hint
	}
	err = fmt.Errorf("the newest copy of %s may be that of run %s, which cannot be read: %w", ref, run.Name, err)
	return terminal.Fail(codes.RestoreUnreadable, err, hint)
}

// planOf plans to restore the object from a run that touched it. Without a plan, an older run is to be looked at; none
// says why the run has no copy of it.
func (o *options) planOf(
	ctx context.Context,
	restorer *restore.Restorer,
	run *v1alpha1.CleanerRun,
	ref cluster.Ref,
	found found,
) (plan *restore.Plan, none string, err error) {
	switch copies := run.Status.Copies; {
	case copies == nil:
		return nil, o.keptNone(run, found.kind), nil
	case copies.Dropped != "":
		return nil, fmt.Sprintf("run %s touched it, and its copies were dropped: %s", run.Name,
			terminal.OneLine(copies.Dropped)), nil
	}
	plan, err = o.plan(ctx, restorer, run, []cluster.Ref{ref})
	switch {
	case err != nil:
		return nil, "", err
	case found.doubtful && plan.Count(restore.Left) == int64(len(plan.Items)):
		return nil, "", nil // it is still there, or the run has no copy of it
	case !slices.ContainsFunc(plan.Items, (*restore.Item).HasCopy):
		return nil, o.keptNone(run, found.kind), nil
	}
	return plan, "", nil
}

// keptNone says that a run kept no copy of an object of the kind.
func (o *options) keptNone(run *v1alpha1.CleanerRun, kind schema.GroupKind) string {
	return fmt.Sprintf("%s, touched it and kept no copy of it%s", o.called(run), whyNone(kind))
}

// called is a run with its Cleaner and its age.
func (o *options) called(run *v1alpha1.CleanerRun) string {
	return fmt.Sprintf("run %s of cleaner %s, %s ago", run.Name, run.Spec.Cleaner,
		duration.HumanDuration(max(0, o.Now().Sub(run.Spec.NominalTime.Time))))
}

// applyAgain is what can be done about an object of which there is no copy.
const applyAgain = "apply its manifest again, or that of what creates it"

// whyNone says why runs keep no copy of some objects of a kind. Empty where they keep one of all.
func whyNone(kind schema.GroupKind) string {
	if words := journal.WhyKindLacksCopies(kind); words != "" {
		return ": none is kept of " + words
	}
	return ""
}

// found is an object in the record of a run.
type found struct {
	kind schema.GroupKind
	// doubtful is true when it is not known whether the run deleted it.
	doubtful bool
}

// touchedBy is the object, if the run touched it or may have. Of a run that keeps no copies, it looks only at the
// objects that its record lists: nothing can be restored from it, and what the record has no room for goes with them.
func touchedBy(
	ctx context.Context,
	api *cluster.Client,
	run *v1alpha1.CleanerRun,
	ref cluster.Ref,
) (*found, error) {
	if run.Status.Intent == nil {
		return nil, nil
	}
	if o := touched(run, ref); o != nil || !keepsCopies(run) {
		return o, nil
	}
	full := run.DeepCopy() // the one to restore stays as it is stored
	if err := api.Fill(ctx, full); err != nil {
		return nil, err
	}
	return touched(full, ref), nil
}

// keepsCopies reports whether there is something that could be restored from the run.
func keepsCopies(run *v1alpha1.CleanerRun) bool {
	return run.Status.Copies != nil && run.Status.Copies.Dropped == ""
}

// touched is the object, if the run deleted or changed it, or may have, as far as the record lists objects.
func touched(run *v1alpha1.CleanerRun, ref cluster.Ref) *found {
	for i := range run.Status.Objects {
		o := &run.Status.Objects[i]
		kind := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).GroupKind()
		if !terminal.IsCalled(kind, ref.Kind) || o.Namespace != ref.Namespace || o.Name != ref.Name {
			continue
		}
		if doubtful := mayBeDeleted(run, o); doubtful || isTouched(o) {
			return &found{kind, doubtful}
		}
	}
	return nil
}

// mayBeDeleted reports whether a run that keeps copies may have deleted an object without knowing it, or found it gone
// when it came to it: then this copy is the newest. What a Transform may have changed is left out: from the object it
// does not show whether its fields were put back.
func mayBeDeleted(run *v1alpha1.CleanerRun, o *v1alpha1.ObjectOutcome) bool {
	if run.Spec.Action != v1alpha1.ActionDelete || !keepsCopies(run) {
		return false
	}
	switch o.Outcome {
	case v1alpha1.OutcomePlanned, v1alpha1.OutcomeFailed, v1alpha1.OutcomeAbandoned, v1alpha1.OutcomeKindGone,
		v1alpha1.OutcomeGone:
		return true
	}
	return false
}

// isTouched reports whether a run deleted or changed an object.
func isTouched(o *v1alpha1.ObjectOutcome) bool {
	switch o.Outcome {
	case v1alpha1.OutcomeDeleted, v1alpha1.OutcomeTerminating, v1alpha1.OutcomeTransformed, v1alpha1.OutcomeFoundGone:
		return true
	}
	return false
}

// complete completes runs or, after a slash, the objects that the records of runs with copies list.
func (o *options) complete(
	cmd *cobra.Command, args []string, begun string,
) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	if !strings.Contains(begun, "/") {
		return cluster.CompleteRuns(o.Session, &o.Connection)(cmd, args, begun)
	}
	api, err := cluster.Connect(o.Session, &o.Connection)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	runs, _ := api.Runs(cmd.Context()) // none, when it fails
	for i := range runs {
		if !keepsCopies(&runs[i]) {
			continue
		}
		for j := range runs[i].Status.Objects {
			of := &runs[i].Status.Objects[j]
			name := cluster.Ref{Kind: of.Kind, Namespace: of.Namespace, Name: of.Name}.String()
			if isTouched(of) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
}
