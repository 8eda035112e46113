// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// one prints one run, for programs with all its objects.
func (o *runsOptions) one(ctx context.Context, api *cluster, run *v1alpha1.CleanerRun) error {
	if o.output != "json" && o.output != "yaml" {
		return o.print([]v1alpha1.CleanerRun{*run})
	}
	unread := api.fill(ctx, run)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	run.APIVersion, run.Kind, run.ManagedFields = v1alpha1.GroupVersion.String(), "CleanerRun", nil
	write := terminal.WriteJSON
	if o.output == "yaml" {
		write = terminal.WriteYAML
	}
	if err := write(o.Out, run); err != nil {
		return err
	}
	if omitted := run.Status.ObjectsOmitted; omitted > 0 && unread == nil {
		o.Note("%s not listed: the run was not going to touch %s, and the record has no room; status.tallies counts them",
			terminal.Grouped(omitted, "more object")+" "+terminal.Plural(omitted, "is", "are"), terminal.Plural(omitted, "it", "them"))
	}
	return unread
}

// fill adds what the run wrote down elsewhere: the objects that the record has no room for, and what became by now of those that it lists as
// planned. With an error the record is as it was.
func (c *cluster) fill(ctx context.Context, run *v1alpha1.CleanerRun) error {
	status := &run.Status
	planned := slices.ContainsFunc(status.Objects, func(o v1alpha1.ObjectOutcome) bool { return o.Outcome == v1alpha1.OutcomePlanned })
	if status.Intent == nil || status.ObjectsOmitted == 0 && !planned {
		return nil
	}
	parts, err := c.parts()
	if err != nil {
		return err
	}
	all, err := journal.Objects(ctx, parts, run)
	if err != nil {
		what := "the outcomes of run " + run.Name + " cannot be read"
		if status.ObjectsOmitted > 0 {
			what = terminal.Grouped(status.ObjectsOmitted, "object") + " of run " + run.Name + " cannot be listed"
		}
		f := &terminal.Failure{Exit: codes.ExitPartial, Code: codes.RunUnreadable, Err: fmt.Errorf("%s: %w", what, err)}
		switch {
		case apierrors.IsForbidden(err):
			f.Hint = "they " + neededRole(run)
		case errors.Is(err, journal.ErrNoPart):
			f.Hint = "they are kept no longer than the run's copies; status.tallies counts them"
		}
		return f
	}
	status.ObjectsOmitted = max(0, status.ObjectsOmitted-int64(len(all)-len(status.Objects)))
	status.Objects = all
	return nil
}
