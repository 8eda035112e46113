// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package restore is kubectl cleaner restore: it plans what of a run's copies is to come back, asks, and carries it
// out.
package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// options are the flags of restore.
type options struct {
	*terminal.Session
	cluster.Connection

	restore.Options
	only     []string
	dryRun   bool
	yes      bool
	copies   string
	output   string
	progress string
	limit    int
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
	cmd := &cobra.Command{
		Use:   "restore RUN | KIND/NAMESPACE/NAME",
		Short: "Restore what a run deleted, and undo what it changed",
		Long: "Restores the objects that a run deleted, from the copies that the run made, and the fields that it changed. It\n" +
			"uses your own rights, and you also need the right to read the copies. The API server first tries everything as a dry run.\n" +
			"Then you are asked once.\n\n" +
			"An object that exists and differs from its copy is left alone, and so is a field that somebody has edited since. --force\n" +
			"overwrites both. A second restore changes nothing.\n\n" +
			"With the name of an object, KIND/NAMESPACE/NAME or KIND/NAME, it restores that object from the latest run that kept a copy.\n\n" +
			"No Cleaner touches a restored object until you remove its annotation:\n" +
			"  kubectl annotate KIND NAME [-n NAMESPACE] " + v1alpha1.RestoredFromAnnotation + "-\n\n" +
			"It exits with 4 if some objects exist already, were edited since, or could not be restored, with 1 if all are so, and otherwise\n" +
			"with 0.",
		Example: "  kubectl cleaner runs\n" +
			"  kubectl cleaner restore unused-configmaps-1795230000 --dry-run\n" +
			"  kubectl cleaner restore unused-configmaps-1795230000 --only ConfigMap/shop/settings\n" +
			"  kubectl cleaner restore ConfigMap/shop/settings\n" +
			"  kubectl cleaner restore unused-configmaps-1795230000 --yes -o json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return terminal.UsageError(cmd, fmt.Sprintf("needs the name of one run or of one object, and was given %d; kubectl cleaner runs lists the runs", len(args)))
			}
			if o.limit < 0 {
				return terminal.UsageError(cmd, "--limit must be at least 0")
			}
			if _, isObject := objectOf(args[0]); isObject && len(o.only) > 0 {
				return terminal.UsageError(cmd, "--only can be used only with a run; to restore several objects, write the run's name")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.only, "only", nil, "restore only this object, KIND/NAMESPACE/NAME or KIND/NAME (may be given several times)")
	flags.IntVar(&o.limit, "limit", 50, "how many objects to list; those that cannot be restored come first; 0 lists all. The other outputs hold all objects")
	flags.BoolVar(&o.dryRun, "dry-run", false, "show what would be done; the API server tries it, and saves nothing")
	flags.BoolVar(&o.Force, "force", false, "overwrite objects that exist and differ from their copy, undo changes that somebody edited since, and restore objects without fields that their kind does not have any more")
	flags.BoolVar(&o.yes, "yes", false, "do not ask")
	flags.StringVar(&o.copies, "copies-path", "", "for a Cleaner with rollback.storage Volume: the path on this machine of the operator's volume with the copies")
	flags.BoolVar(&o.Status, "status", false, "restore the status too, if the kind has one")
	flags.BoolVar(&o.KeepFinalizers, "keep-finalizers", false, "restore the finalizers too; if nothing removes them later, the objects cannot be deleted")
	flags.VarP(terminal.NewChoice(&o.output, "table", "wide", "json", "yaml", "name"), "output", "o", "what to print: table, wide, json, yaml or name (KIND/NAMESPACE/NAME of what was restored)")
	flags.Var(terminal.ProgressChoice(&o.progress), "progress", "how to show the progress of long work: auto, plain, json or none")
	o.Bind(flags)
	_ = cmd.RegisterFlagCompletionFunc("only", cluster.CompleteObjects(s, &o.Connection)) // it fails only for no flag
	cmd.ValidArgsFunction = terminal.CompleteFirst(o.complete)
	return cmd
}

func (o *options) run(cmd *cobra.Command, name string) error {
	ctx := cmd.Context()
	wanted, err := o.wanted(cmd)
	if err != nil {
		return err
	}
	api, err := cluster.Connect(o.Session, &o.Connection)
	if err != nil {
		return err
	}
	restorer, err := restorer(api, o.copies)
	if err != nil {
		return err
	}
	run, plan, err := o.find(ctx, api, restorer, name, wanted)
	if err == nil {
		o.noteCopies(run)
		err = o.carry(ctx, restorer, run, plan)
	}
	if err != nil {
		if ctx.Err() != nil {
			o.Note("nothing was restored")
		}
		return err
	}
	if err := o.print(run, plan); err != nil {
		return err
	}
	if ctx.Err() != nil {
		o.Note("so far, %s; to continue, run the same command again (%s restore %s): it leaves restored objects alone",
			strings.Join(counts(plan), ", "), terminal.Program, run.Name)
		return context.Cause(ctx)
	}
	return o.conclusion(run, plan)
}

// noteCopies says that the path of the copies is not used.
func (o *options) noteCopies(run *v1alpha1.CleanerRun) {
	if copies := run.Status.Copies; o.copies != "" && copies != nil && copies.Storage != v1alpha1.StorageVolume {
		o.Note("--copies-path is not used: the copies of run %s are not on a volume", run.Name)
	}
}

// find is the run to restore from, and what is to become of its objects, or of the one object that is named.
func (o *options) find(
	ctx context.Context,
	api *cluster.Client,
	restorer *restore.Restorer,
	name string,
	wanted []cluster.Ref,
) (*v1alpha1.CleanerRun, *restore.Plan, error) {
	if ref, isObject := objectOf(name); isObject {
		o.only = []string{name}
		run, plan, err := o.newest(ctx, api, restorer, ref)
		if err == nil {
			o.Note("the newest copy of %s is that of %s", ref, o.called(run))
		}
		return run, plan, err
	}
	run, err := api.CleanerRun(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	plan, err := o.plan(ctx, restorer, run, wanted)
	return run, plan, err
}

// wanted are the objects that --only names.
func (o *options) wanted(cmd *cobra.Command) (wanted []cluster.Ref, err error) {
	for _, text := range o.only {
		w, ok := cluster.ParseRef(text)
		if !ok {
			return nil, terminal.UsageError(cmd, fmt.Sprintf("--only %q names no object; write KIND/NAMESPACE/NAME, or KIND/NAME for one without a namespace", text))
		}
		wanted = append(wanted, w)
	}
	return wanted, nil
}

// restorer is one that acts as the user. copiesPath is where copies are that are files.
func restorer(c *cluster.Client, copiesPath string) (*restore.Restorer, error) {
	parts, err := c.Parts()
	if err != nil {
		return nil, err
	}
	parts.CopiesPath = copiesPath
	return restore.New(c.Raw, parts), nil
}

// plan finds out what is to become of the objects.
func (o *options) plan(ctx context.Context, restorer *restore.Restorer, run *v1alpha1.CleanerRun,
	wanted []cluster.Ref,
) (*restore.Plan, error) {
	progress := o.StartProgress(o.progress)
	defer progress.Stop()
	progress.Begin("checking what run "+run.Name+" touched", false)
	var touched []string
	if len(wanted) > 0 {
		o.Only = func(object object.Object) bool {
			touched = append(touched, cluster.RefOf(object).String())
			return slices.ContainsFunc(wanted, func(w cluster.Ref) bool { return w.Is(object) })
		}
	}
	plan, err := restorer.Plan(ctx, run, o.Options)
	if err != nil {
		progress.Stop()
		return nil, o.planError(ctx, run, err)
	}
	for _, w := range wanted {
		if slices.ContainsFunc(plan.Items, func(i *restore.Item) bool { return w.Is(i.Object) }) {
			continue
		}
		hint := ""
		if near := suggest.Nearest(w.String(), touched); near != "" {
			hint = "did you mean " + terminal.Quoted(near) + "?"
		}
		return nil, terminal.Fail(codes.ObjectNotFound,
			fmt.Errorf("--only %s: run %s was not going to touch such an object", w, run.Name), hint)
	}
	return plan, nil
}

// planError says why there is no plan.
func (o *options) planError(ctx context.Context, run *v1alpha1.CleanerRun, err error) error {
	var nothing *restore.NothingError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &nothing):
		return terminal.Fail(codes.RestoreNothing, err, "")
	case apierrors.IsForbidden(err):
		return terminal.Fail(codes.ClusterForbidden, err, "the copies "+cluster.NeededRole(run))
	}
	return terminal.Fail(codes.RestoreUnreadable, err, "nothing was restored: copies that are not exactly what the run wrote are never used")
}

// confirm shows what is going to be done, and asks once.
func (o *options) confirm(run *v1alpha1.CleanerRun, plan *restore.Plan) error {
	if o.yes {
		return nil
	}
	o.table(plan, o.ErrOut)
	fmt.Fprintln(o.ErrOut, planSummary(run, plan))
	return o.Confirm(codes.RestoreNotConfirmed, "nothing was restored", "--dry-run only shows it")
}

// carry carries out what is planned, if anything is, once it is confirmed.
func (o *options) carry(
	ctx context.Context,
	restorer *restore.Restorer,
	run *v1alpha1.CleanerRun,
	plan *restore.Plan,
) error {
	if o.dryRun || plan.Count(restore.Planned) == 0 {
		return nil
	}
	if err := o.confirm(run, plan); err != nil {
		return err
	}
	progress := o.StartProgress(o.progress)
	defer progress.Stop()
	progress.Begin("restoring", false)
	restorer.Carry(ctx, plan, restore.Progress{
		Waiting: func(what string) { progress.Begin("waiting for "+what, false) },
		Done:    func(*restore.Item) { progress.Begin("restoring", false) },
	})
	return nil
}
