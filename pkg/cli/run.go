// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/schema"
)

// runOptions are the flags of run.
type runOptions struct {
	*terminal.Session
	connection
	wait     bool
	timeout  time.Duration
	progress string
}

func runCommand(s *terminal.Session) *cobra.Command {
	o := &runOptions{Session: s}
	cmd := &cobra.Command{
		Use:   "run NAME",
		Short: "Let the operator run a Cleaner now",
		Long: "Asks the operator to run a Cleaner of the cluster now, whatever its schedule, also when it is suspended. The run does what the\n" +
			"Cleaner says: it deletes, changes or reports. kubectl cleaner preview NAME shows beforehand what that would be.\n\n" +
			"With --wait, follows the run to its end, and exits with 0 if it did all that it was asked to do, with 4 if it could not read,\n" +
			"judge or touch something, and else with 1. kubectl's other flags of connection (--cluster, --user, --server, --token ...)\n" +
			"are understood as well.",
		Example: "  kubectl cleaner run unused-configmaps\n  kubectl cleaner run unused-configmaps --wait --timeout 10m",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return terminal.UsageError(cmd, fmt.Sprintf("needs the name of one Cleaner, and was given %d", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.timeout <= 0 {
				return terminal.UsageError(cmd, "--timeout must be more than 0")
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.wait, "wait", false, "follow the run to its end, and print what became of the objects (at most 20)")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long to follow the run; it goes on without you")
	flags.Var(terminal.NewChoice(&o.progress, terminal.ProgressAuto, terminal.ProgressPlain, terminal.ProgressJSON, terminal.ProgressNone), "progress", "how to show the progress of a run that is followed: auto, plain, json or none")
	o.bind(flags)
	names := completeCleaners(s, &o.connection)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, given []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(given) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(cmd, given, begun)
	}
	return cmd
}

func (o *runOptions) run(ctx context.Context, name string) error {
	api, err := connect(o.Session, &o.connection)
	if err != nil {
		return err
	}
	before, err := api.cleaner(ctx, name)
	if err != nil {
		return err
	}
	if err := o.ready(before); err != nil {
		return err
	}
	if err := api.intact(ctx, "no run was asked for: what writes to a Cleaner now makes the loss of its fields last"); err != nil {
		return err
	}
	asked, err := api.ask(ctx, before.Name, requestValue(o.Now(), before))
	if err != nil {
		return err
	}
	o.tellAsked(before)
	if !o.wait {
		fmt.Fprintf(o.ErrOut, "%s to see how it goes: kubectl get cleaner %s -o wide --watch\n", o.Paint(o.ErrOut).Bold("hint:"), before.Name)
		return nil
	}
	return o.follow(ctx, api, newFollower(asked))
}

// ready refuses a Cleaner that the operator has found unable to run as it stands now.
func (o *runOptions) ready(cleaner *v1alpha1.Cleaner) error {
	ready := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status == metav1.ConditionTrue || ready.ObservedGeneration != cleaner.Generation ||
		ready.Reason == v1alpha1.ReasonSuspended || ready.Reason == v1alpha1.ReasonBudgetExhausted {
		return nil
	}
	return terminal.Fail(codes.RunNotReady, fmt.Errorf("cleaner %q cannot run: %s: %s", cleaner.Name, ready.Reason, ready.Message), "no run was asked for; mend the Cleaner first")
}

// intact refuses what must not be done while the API server does not keep all fields of Cleaners. Who may not read that is not refused: the
// operator knows.
func (c *cluster) intact(ctx context.Context, hint string) error {
	connections, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return err
	}
	served, err := schema.NewServed(c.config, connections, clock.RealClock{})
	if err != nil {
		return err
	}
	lacks, err := served.Check(ctx)
	connections.CloseIdleConnections()
	if err == nil && lacks != "" && !schema.IsUnread(lacks) {
		return terminal.Fail(codes.RunNotReady, errors.New(lacks), hint)
	}
	if err != nil {
		return requestError("looking which fields of Cleaners the API server keeps", err)
	}
	return nil
}

// requestValue is a new value for the annotation: the time. One before the Cleaner's creation would be taken for one that was
// restored with it, so a clock that is behind is put right.
func requestValue(now time.Time, cleaner *v1alpha1.Cleaner) string {
	if created := cleaner.CreationTimestamp.Time; now.Before(created) {
		now = created.Add(time.Duration(now.Nanosecond()))
	}
	return now.UTC().Format(time.RFC3339Nano)
}

// ask sets the annotation, and returns the Cleaner with it.
func (c *cluster) ask(ctx context.Context, cleaner, value string) (*v1alpha1.Cleaner, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{v1alpha1.RunRequestedAtAnnotation: value}}})
	if err != nil {
		return nil, err
	}
	body, err := send(ctx, c.raw.Patch(types.MergePatchType).AbsPath(cleanerPath(cleaner)).Param("fieldManager", fieldManager).Body(patch))
	switch {
	case apierrors.IsNotFound(err):
		return nil, c.noCleaner(ctx, cleaner)
	case err != nil:
		return nil, requestError(fmt.Sprintf("asking for a run of cleaner %q", cleaner), err)
	}
	var answer v1alpha1.Cleaner
	return &answer, json.Unmarshal(body, &answer)
}

// tellAsked says what was asked for.
func (o *runOptions) tellAsked(cleaner *v1alpha1.Cleaner) {
	does := map[v1alpha1.Action]string{
		v1alpha1.ActionDelete: "it deletes what matches", v1alpha1.ActionTransform: "it changes what matches", v1alpha1.ActionScan: "it only reports what matches",
	}[cleaner.EffectiveAction()]
	if cleaner.Status.Action == v1alpha1.ActionScan && cleaner.EffectiveAction() != v1alpha1.ActionScan && cleaner.Status.ObservedGeneration == cleaner.Generation {
		does = "it only reports what matches, because " + cmp.Or(terminal.OneLine(cleaner.Status.DryRunReason), v1alpha1.DryRunByFlag)
	}
	fmt.Fprintf(o.ErrOut, "asked for a run of cleaner %q; %s\n", cleaner.Name, does)
	if active := cleaner.Status.ActiveRun; active != nil {
		o.Note("the run %s is going on; the new one begins after it", active.Name)
	}
}
