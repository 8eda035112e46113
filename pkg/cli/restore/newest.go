// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// objectOf reads the argument as the name of an object. It is false of a run's name, also as kubectl prints it.
func objectOf(arg string) (cluster.Ref, bool) {
	ref, ok := cluster.ParseRef(arg)
	kind, _, _ := strings.Cut(strings.ToLower(ref.Kind), ".")
	return ref, ok && kind != "cleanerrun" && kind != "cleanerruns"
}

// newest finds the latest run that touched the object and keeps copies.
func (o *options) newest(ctx context.Context, api *cluster.Client, ref cluster.Ref) (*v1alpha1.CleanerRun, error) {
	runs, err := api.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var unread []error
	lost := ""
	for i := range runs {
		run := &runs[i]
		kind, err := touchedBy(ctx, api, run, ref)
		switch copies := run.Status.Copies; {
		case err != nil:
			unread = append(unread, err)
		case kind == nil:
		case copies == nil:
			lost = cmp.Or(lost, fmt.Sprintf("; run %s of cleaner %s touched it and kept no copy of it%s", run.Name,
				run.Spec.Cleaner, whyNone(*kind)))
		case copies.Dropped != "":
			lost = fmt.Sprintf("; run %s touched it, and its copies were dropped: %s", run.Name,
				terminal.OneLine(copies.Dropped))
		default:
			return run, nil
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(unread) > 0 {
		return nil, errors.Join(unread...)
	}
	hint := applyAgain
	if lost == "" {
		hint = "write KIND/NAMESPACE/NAME, or KIND/NAME for one without a namespace; " + terminal.Program + " runs lists which runs keep copies"
	}
	return nil, terminal.Fail(
		codes.RestoreNothing,
		fmt.Errorf("no run that keeps copies touched %s%s", ref, lost),
		hint,
	)
}

// applyAgain is what can be done about an object of which there is no copy.
const applyAgain = "apply its manifest again, or that of what creates it"

// tellNewest says whose copy it is that would come back, or that the run kept none.
func (o *options) tellNewest(run *v1alpha1.CleanerRun, plan *restore.Plan, ref cluster.Ref) error {
	of := fmt.Sprintf("run %s of cleaner %s, %s ago", run.Name, run.Spec.Cleaner,
		duration.HumanDuration(max(0, o.Now().Sub(run.Spec.NominalTime.Time))))
	why := ""
	for _, item := range plan.Items {
		if item.HasCopy() {
			o.Note("the newest copy of %s is that of %s", ref, of)
			return nil
		}
		why = whyNone(item.Kind.GroupKind())
	}
	return terminal.Fail(
		codes.RestoreNothing,
		fmt.Errorf("%s, touched %s last and kept no copy of it%s", of, ref, why),
		applyAgain,
	)
}

// whyNone says why runs keep no copy of some objects of a kind. Empty where they keep one of all.
func whyNone(kind schema.GroupKind) string {
	if words := journal.WhyKindLacksCopies(kind); words != "" {
		return ": none is kept of " + words
	}
	return ""
}

// touchedBy is the kind of the object, if the run touched it. Of a run without copies, it looks only at the objects
// that its record lists: nothing can be restored from it.
func touchedBy(
	ctx context.Context,
	api *cluster.Client,
	run *v1alpha1.CleanerRun,
	ref cluster.Ref,
) (*schema.GroupKind, error) {
	if run.Status.Intent == nil {
		return nil, nil
	}
	if kind := touched(run, ref); kind != nil || run.Status.Copies == nil {
		return kind, nil
	}
	full := run.DeepCopy() // the one to restore stays as it is stored
	if err := api.Fill(ctx, full); err != nil {
		return nil, err
	}
	return touched(full, ref), nil
}

// touched is the kind of the object, if the run deleted or changed it, as far as the record lists objects.
func touched(run *v1alpha1.CleanerRun, ref cluster.Ref) *schema.GroupKind {
	for i := range run.Status.Objects {
		switch o := &run.Status.Objects[i]; o.Outcome {
		case v1alpha1.OutcomeDeleted, v1alpha1.OutcomeTerminating, v1alpha1.OutcomeTransformed, v1alpha1.OutcomeFoundGone:
			kind := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).GroupKind()
			if object.IsCalled(kind, ref.Kind) && o.Namespace == ref.Namespace && o.Name == ref.Name {
				return &kind
			}
		}
	}
	return nil
}
