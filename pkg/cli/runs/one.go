// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"context"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// one prints one run, for programs with all its objects.
func (o *options) one(ctx context.Context, api *cluster.Client, run *v1alpha1.CleanerRun) error {
	if o.output != "json" && o.output != "yaml" {
		return o.print([]v1alpha1.CleanerRun{*run})
	}
	unread := api.Fill(ctx, run)
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
