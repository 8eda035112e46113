// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
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
	write := writeJSON
	if o.output == "yaml" {
		write = writeYAML
	}
	if err := write(o.Out, run); err != nil {
		return err
	}
	if omitted := run.Status.ObjectsOmitted; omitted > 0 && unread == nil {
		o.note("%s not listed: the run was not going to touch %s, and the record has no room; status.tallies counts them",
			grouped(omitted, "more object")+" "+plural(omitted, "is", "are"), plural(omitted, "it", "them"))
	}
	return unread
}

// fill adds the objects that the record has no room for, and that the run wrote down elsewhere. With an error the record is as it was.
func (c *cluster) fill(ctx context.Context, run *v1alpha1.CleanerRun) error {
	status := &run.Status
	if status.ObjectsOmitted == 0 || status.Intent == nil {
		return nil
	}
	parts, err := c.parts()
	if err != nil {
		return err
	}
	all, err := journal.Objects(ctx, parts, run)
	if err != nil {
		f := &failure{exit: ExitPartial, code: RunUnreadable, err: fmt.Errorf("%s of run %s cannot be listed: %w", grouped(status.ObjectsOmitted, "object"), run.Name, err)}
		switch {
		case apierrors.IsForbidden(err):
			f.hint = "they " + neededRole(run)
		case errors.Is(err, journal.ErrNoPart):
			f.hint = "they are kept no longer than the run's copies; status.tallies counts them"
		}
		return f
	}
	status.ObjectsOmitted = max(0, status.ObjectsOmitted-int64(len(all)-len(status.Objects)))
	status.Objects = all
	return nil
}
