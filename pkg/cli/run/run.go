// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package run is kubectl cleaner run: it asks the operator for a run by an annotation, and follows it to its end.
package run

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// options are the flags of run.
type options struct {
	*terminal.Session
	cluster.Connection
	wait     bool
	yes      bool
	timeout  time.Duration
	progress string
	output   string
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
	cmd := &cobra.Command{
		Use:   "run NAME",
		Short: "Let the operator run a Cleaner now",
		Long: "Asks the operator to run a Cleaner of the cluster now, whatever its schedule says, and even if it is suspended. The run does\n" +
			"what the Cleaner says: it deletes, changes or reports. Before a run that deletes or changes objects, you are asked once.\n" +
			"kubectl cleaner preview NAME shows what the run would do.\n\n" +
			"With --wait, it follows the run to its end. It then exits with 0 if the run did everything, with 4 if the run could not\n" +
			"read, judge or touch something, or left an object alone as Unknown, and with 1 otherwise.\n\n" +
			"It also takes kubectl's flags for connecting to a cluster, such as --cluster, --user, --server and --token.",
		Example: "  kubectl cleaner run unused-configmaps\n  kubectl cleaner run unused-configmaps --wait --timeout 10m\n  kubectl cleaner run unused-configmaps --yes\n" +
			"  kubectl cleaner run unused-configmaps --yes --wait -o json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return terminal.UsageError(cmd, fmt.Sprintf("needs the name of one Cleaner, and was given %d", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if wrong := o.misused(cmd); wrong != "" {
				return terminal.UsageError(cmd, wrong)
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.wait, "wait", false, "follow the run to its end, and print what became of the objects (at most 20)")
	flags.BoolVar(&o.yes, "yes", false, "do not ask")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long to follow the run; after that, the run continues without you")
	flags.Var(
		terminal.ProgressChoice(&o.progress),
		"progress",
		"how to show the progress of a run that is followed: auto, plain, json or none",
	)
	flags.VarP(terminal.NewChoice(&o.output, "table", "json", "yaml", "name"), "output", "o",
		"with --wait: what to print of the run: table, json, yaml (the CleanerRun with all objects) or name")
	o.Bind(flags)
	names := cluster.CompleteCleaners(s, &o.Connection)
	cmd.ValidArgsFunction = terminal.CompleteFirst(names)
	return cmd
}

// misused says which flags are wrong or would have no effect. Empty when none is.
func (o *options) misused(cmd *cobra.Command) string {
	if o.timeout <= 0 {
		return "--timeout must be more than 0"
	}
	for _, name := range []string{"timeout", "progress", "output"} {
		if !o.wait && cmd.Flags().Changed(name) {
			return "--" + name + " needs --wait: add --wait"
		}
	}
	return ""
}

func (o *options) run(ctx context.Context, name string) error {
	api, err := cluster.Connect(o.Session, &o.Connection)
	if err != nil {
		return err
	}
	before, err := api.Cleaner(ctx, name)
	if err != nil {
		return err
	}
	if err := o.ready(before); err != nil {
		return err
	}
	if err := api.Intact(
		ctx,
		"no run was asked for: "+cluster.StaysLost,
	); err != nil {
		return err
	}
	if err := o.answering(ctx, api); err != nil {
		return err
	}
	o.printUncopied(ctx, api, before)
	if err := o.confirm(before); err != nil {
		return err
	}
	if err := unchanged(ctx, api, before); err != nil {
		return err
	}
	asked, err := ask(ctx, api, before, requestValue(o.Now(), before))
	if err != nil {
		return err
	}
	o.reportAsked(before)
	if !o.wait {
		fmt.Fprintf(
			o.ErrOut,
			"%s to see how it goes: kubectl get cleaner %s -o wide --watch\n",
			o.Paint(o.ErrOut).Bold("hint:"),
			before.Name,
		)
		return nil
	}
	return o.follow(ctx, api, newFollower(asked))
}

// ready refuses a Cleaner that the operator has found unable to run as it stands now.
func (o *options) ready(cleaner *v1alpha1.Cleaner) error {
	why, wayOut := cluster.Unready(cleaner)
	if why == "" {
		return nil
	}
	return terminal.Fail(
		codes.RunNotReady,
		fmt.Errorf("cleaner %q cannot run: %s", cleaner.Name, why),
		"no run was asked for; "+wayOut,
	)
}

// confirm asks before a run that deletes or changes objects. It asks also when the operator said that it only reports:
// that may change before the run begins.
func (o *options) confirm(cleaner *v1alpha1.Cleaner) error {
	does := map[v1alpha1.Action]string{
		v1alpha1.ActionDelete:    "deletes",
		v1alpha1.ActionTransform: "changes",
	}[cleaner.EffectiveAction()]
	if o.yes || does == "" || cleaner.NeedsApproval() { // who approves a plan is asked then
		return nil
	}
	fmt.Fprintf(o.ErrOut, "cleaner %q %s what matches now%s\n", cleaner.Name, does, o.lastMatches(cleaner))
	if onlyReports(cleaner) {
		o.Note("at present it only reports, because %s", whyOnlyReports(cleaner))
	}
	if cleaner.IsSuspended() {
		o.Note("it is suspended; this request still runs it once, now")
	}
	return o.Confirm(
		codes.RunNotConfirmed,
		"no run was asked for",
		terminal.Program+" preview "+cleaner.Name+" shows what it would do",
	)
}

// unchanged refuses a Cleaner that somebody changed, or created anew, while the answer was waited for.
func unchanged(ctx context.Context, api *cluster.Client, before *v1alpha1.Cleaner) error {
	now, err := api.Cleaner(ctx, before.Name)
	if err != nil || now.UID == before.UID && now.Generation == before.Generation {
		return err
	}
	return terminal.Fail(
		codes.RunNotConfirmed,
		fmt.Errorf("somebody has just changed cleaner %q", before.Name),
		"no run was asked for; to see what it would do now: "+terminal.Program+" preview "+before.Name,
	)
}

// lastMatches says how much the last run matched, as a hint at how much it will be.
func (o *options) lastMatches(cleaner *v1alpha1.Cleaner) string {
	last := cleaner.Status.LastRun
	if last == nil {
		return fmt.Sprintf("; it has not run yet, so the number of objects is not known. To see it: %s preview %s",
			terminal.Program, cleaner.Name)
	}
	text := fmt.Sprintf(
		"; its last run, at %s, %s ago, matched %s",
		last.NominalTime.UTC().Format(time.RFC3339),
		duration.HumanDuration(max(0, o.Now().Sub(last.NominalTime.Time))),
		terminal.Grouped(last.Matched, "object"),
	)
	done := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionRunSucceeded)
	if done != nil && done.Status == metav1.ConditionFalse { // it may not have seen all
		text += ", and did not succeed (" + done.Reason + ")"
	}
	if done != nil && done.ObservedGeneration < cleaner.Generation {
		text += "; the Cleaner was edited since"
	}
	return text
}

// whyOnlyReports is what the operator said of it.
func whyOnlyReports(cleaner *v1alpha1.Cleaner) string {
	return cmp.Or(terminal.OneLine(cleaner.Status.DryRunReason), v1alpha1.DryRunByFlag)
}

// onlyReports reports whether the operator said that this version of the Cleaner only reports now, whatever its action.
func onlyReports(cleaner *v1alpha1.Cleaner) bool {
	return cleaner.Status.Action == v1alpha1.ActionScan && cleaner.EffectiveAction() != v1alpha1.ActionScan &&
		cleaner.Status.ObservedGeneration == cleaner.Generation
}

// reportAsked says what was asked for.
func (o *options) reportAsked(cleaner *v1alpha1.Cleaner) {
	does := map[v1alpha1.Action]string{
		v1alpha1.ActionDelete: "it deletes what matches", v1alpha1.ActionTransform: "it changes what matches",
		v1alpha1.ActionScan: "it only reports what matches",
	}[cleaner.EffectiveAction()]
	if cleaner.NeedsApproval() {
		does = "it touches nothing, and makes a plan that waits for approval: " + terminal.Program + " approve " + cleaner.Name
	}
	if onlyReports(cleaner) {
		does = "it only reports what matches, because " + whyOnlyReports(cleaner)
	}
	fmt.Fprintf(o.ErrOut, "asked for a run of cleaner %q; %s\n", cleaner.Name, does)
	if active := cleaner.Status.ActiveRun; active != nil {
		o.Note("the run %s is active; the new one begins after it", active.Name)
	}
}
