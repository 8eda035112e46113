// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cancel is kubectl cleaner cancel: the annotation that ends one run, and what became of the run.
package cancel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// patience is how long the end of the run is waited for. The objects in hand take about a second.
const patience = 10 * time.Second

// options are the flags of cancel.
type options struct {
	*terminal.Session
	cluster.Connection
	changed cluster.Changed
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
	cmd := &cobra.Command{
		Use:   "cancel RUN | CLEANER",
		Short: "End a run before its next object",
		Long: "Ends an active run before its next object, and keeps a waiting run from starting, by an annotation on its Cleaner\n" +
			"(" + v1alpha1.CancelRunAnnotation + "). What the run did stays done, is in its record, and can be restored. The Cleaner runs\n" +
			"again when it is due. The annotation also works if another operator resumes the run.\n\n" +
			"It is an error if the run has not ended after 10 seconds. If you name a Cleaner, this ends its active or\n" +
			"waiting run, and takes back a request for a run that has not begun. To refuse a plan that waits for approval, use\n" +
			"kubectl cleaner reject.",
		Example: "  kubectl cleaner cancel unused-configmaps-1795230000\n  kubectl cleaner cancel unused-configmaps",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return terminal.UsageError(
					cmd,
					fmt.Sprintf("needs the name of one run, and was given %d; kubectl cleaner runs lists them", len(args)),
				)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	o.changed.BindOutput(cmd.Flags(), "the annotated Cleaner")
	o.Bind(cmd.Flags())
	cmd.ValidArgsFunction = terminal.CompleteFirst(o.complete)
	return cmd
}

// complete names the runs that are going on.
func (o *options) complete(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	if api, err := cluster.Connect(o.Session, &o.Connection); err == nil {
		_ = cluster.List[v1alpha1.CleanerList](
			cmd.Context(),
			api,
			cluster.CleanerPath(""),
			func(c *v1alpha1.Cleaner) { // none, when it fails
				if c.Status.ActiveRun != nil {
					names = append(names, c.Status.ActiveRun.Name)
				}
			},
		)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (o *options) run(ctx context.Context, name string) error {
	api, err := cluster.Connect(o.Session, &o.Connection)
	if err != nil {
		return err
	}
	name = name[strings.LastIndex(name, "/")+1:] // as kubectl prints it
	cleaner, err := find(ctx, api, name)
	if err != nil {
		return err
	}
	if err := api.Intact(
		ctx,
		"no run was cancelled: "+cluster.StaysLost+"; to stop all acting: "+terminal.Program+" stop",
	); err != nil {
		return err
	}
	body, err := write(ctx, api, cleaner, name)
	for try := 1; apierrors.IsConflict(err) && try < writeTries; try++ {
		if cleaner, err = find(ctx, api, name); err != nil {
			return err
		}
		body, err = write(ctx, api, cleaner, name)
	}
	if err != nil {
		return cluster.RequestError("cancelling "+terminal.Quoted(name), err)
	}
	o.report(cleaner, name)
	if err := o.changed.Print(o.Session, body); err != nil || cleaner.Status.ActiveRun == nil {
		return err
	}
	return o.await(ctx, api, cleaner.Name, cleaner.Status.ActiveRun.Name)
}

// writeTries is how often a request is taken back that something writes to the Cleaner meanwhile.
const writeTries = 5

// takesBack reports whether who cancels the name takes a request for a run back.
func takesBack(cleaner *v1alpha1.Cleaner, name string) bool {
	return name == cleaner.Name && cleaner.IsRunRequested()
}

// write cancels the run that goes on, if there is one, and takes back the request for another, if the Cleaner is named.
// That fails if anything changed since: a run that has begun has answered the request.
func write(ctx context.Context, api *cluster.Client, cleaner *v1alpha1.Cleaner, name string) ([]byte, error) {
	metadata, annotations := map[string]any{}, map[string]any{}
	metadata["annotations"] = annotations
	if active := cleaner.Status.ActiveRun; active != nil {
		annotations[v1alpha1.CancelRunAnnotation] = active.Name
	}
	if takesBack(cleaner, name) {
		annotations[v1alpha1.RunRequestedAtAnnotation] = nil
		metadata["resourceVersion"] = cleaner.ResourceVersion
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, err
	}
	return cluster.Send(
		ctx,
		api.Raw.Patch(types.MergePatchType).
			AbsPath(cluster.CleanerPath(cleaner.Name)).
			Param("fieldManager", cluster.FieldManager).
			Body(patch),
	)
}

// report says what was written.
func (o *options) report(cleaner *v1alpha1.Cleaner, name string) {
	if takesBack(cleaner, name) {
		fmt.Fprintf(o.ErrOut, "the run of cleaner %q that was asked for is taken back: it does not begin\n", cleaner.Name)
	}
	if active := cleaner.Status.ActiveRun; active != nil {
		fmt.Fprintf(
			o.ErrOut,
			"run %s of cleaner %q is cancelled: it ends before its next object\n",
			active.Name,
			cleaner.Name,
		)
	}
	if name != cleaner.Name && cleaner.IsRunRequested() {
		o.Note("another run of cleaner %q was asked for and has not begun; to take it back: %s cancel %s",
			cleaner.Name, terminal.Program, cleaner.Name)
	}
}

// await waits for the end of the run, and reports it.
func (o *options) await(parent context.Context, api *cluster.Client, cleaner, run string) error {
	ctx, cancel := context.WithTimeout(parent, patience+cluster.Rewatch)
	defer cancel()
	for waited := time.Duration(0); waited <= patience && ctx.Err() == nil; waited += cluster.Rewatch {
		now, err := api.Cleaner(ctx, cleaner)
		if err == nil && (now.Status.ActiveRun == nil || now.Status.ActiveRun.Name != run) {
			return o.reportEnd(ctx, api, now, run)
		}
		select {
		case <-o.Clock.After(cluster.Rewatch):
		case <-ctx.Done():
		}
	}
	if parent.Err() != nil {
		o.Note("the annotation stays: the run ends before its next object as soon as the operator sees it")
		return context.Cause(parent)
	}
	return terminal.Fail(
		codes.RunTimeout,
		fmt.Errorf(
			"run %s did not end within %s; the annotation stays, and the run ends before its next object as soon as the operator sees it",
			run,
			patience,
		),
		"does the operator run? see: kubectl get cleaner "+cleaner+"; to stop all acting: "+terminal.Program+" stop",
	)
}

// readPatience is how long the record of a run that has ended is read.
const readPatience = 10 * time.Second

// reportEnd says what the run did before it ended.
func (o *options) reportEnd(ctx context.Context, api *cluster.Client, cleaner *v1alpha1.Cleaner, run string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readPatience)
	defer cancel()
	record, err := api.CleanerRun(ctx, run)
	var failure *terminal.Failure
	switch {
	case err != nil && (!errors.As(err, &failure) || failure.Code != codes.RunNotFound):
		o.Note("the run ended; its record cannot be read: %s", terminal.OneLine(err.Error()))
		fmt.Fprintf(o.ErrOut, "%s to see what it did: %s runs %s\n", o.Paint(o.ErrOut).Bold("hint:"), terminal.Program, run)
	case err != nil:
		fmt.Fprintf(
			o.ErrOut,
			"the run ended; it has no record, so it touched nothing: kubectl describe cleaner %s\n",
			cleaner.Name,
		)
	default:
		fmt.Fprintf(o.ErrOut, "it ended: %s\n", terminal.OneLine(record.Status.Message))
		if kept := record.Status.Copies; kept != nil && kept.Dropped == "" && record.Status.Acted > 0 {
			fmt.Fprintf(
				o.ErrOut,
				"%s to undo what it did: %s restore %s\n",
				o.Paint(o.ErrOut).Bold("hint:"),
				terminal.Program,
				run,
			)
		}
	}
	return nil
}
