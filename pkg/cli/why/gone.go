// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"cmp"
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// findRun looks for the run that deleted the object, the latest first.
func (j *job) findRun(ctx context.Context, r *Result) {
	var runs []v1alpha1.CleanerRun
	err := cluster.List[v1alpha1.CleanerRunList](
		ctx,
		j.API,
		cluster.RunPath(""),
		func(run *v1alpha1.CleanerRun) { runs = append(runs, *run) },
	)
	if apierrors.IsNotFound(err) || ctx.Err() != nil {
		return
	}
	if err != nil {
		j.unrecorded = true
		j.Note("whether a run deleted it is not known: %s", terminal.OneLine(err.Error()))
		return
	}
	slices.SortStableFunc(
		runs,
		func(a, b v1alpha1.CleanerRun) int { return b.Spec.NominalTime.Compare(a.Spec.NominalTime.Time) },
	)
	for i := range runs {
		run := &runs[i]
		if r.DeletedBy = j.deletedIn(run); r.DeletedBy != nil {
			return
		}
		if run.Status.Acted == 0 && run.Status.Phase == v1alpha1.RunCompleted {
			continue
		}
		if err := j.API.Fill(ctx, run); err != nil && ctx.Err() == nil {
			j.unrecorded = true
			j.Note("%s", terminal.OneLine(err.Error()))
			continue
		}
		if r.DeletedBy = j.deletedIn(run); r.DeletedBy != nil {
			return
		}
	}
}

// gone are the outcomes of objects that a run deleted, or that were gone when it was resumed.
var gone = []v1alpha1.OutcomeResult{v1alpha1.OutcomeDeleted, v1alpha1.OutcomeTerminating, v1alpha1.OutcomeFoundGone}

// deletedIn is what a run says of the object, if it deleted it.
func (j *job) deletedIn(run *v1alpha1.CleanerRun) *deletion {
	for _, o := range run.Status.Objects {
		gv, err := schema.ParseGroupVersion(o.APIVersion)
		if err != nil || gv.Group != j.of.Group || o.Kind != j.of.Kind || o.Namespace != j.name.Namespace ||
			o.Name != j.name.Name ||
			!slices.Contains(gone, o.Outcome) {
			continue
		}
		found := &deletion{
			Run:     run.Name,
			Cleaner: run.Spec.Cleaner,
			At:      run.Spec.NominalTime.Time,
			Why:     cmp.Or(o.Message, o.Reason),
			Unsure:  o.Outcome == v1alpha1.OutcomeFoundGone || j.unrecorded, // of a newer run
		}
		if kept := run.Status.Copies; kept != nil && kept.Dropped == "" {
			ref := cluster.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
			found.Restore = terminal.Program + " restore " + terminal.ShellWord(run.Name) +
				" --only " + terminal.ShellWord(ref.String()) + search.Given(j.flags, search.Connecting...)
			found.Until = search.TimeOf(kept.ExpirationTime.Time)
		}
		return found
	}
	return nil
}
