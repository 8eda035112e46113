// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package approve is kubectl cleaner approve and reject: they show the plan of a run and, when the user confirms it,
// say so in a CleanerApproval.
package approve

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/approval"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// options are the flags of approve and reject.
type options struct {
	*terminal.Session
	cluster.Connection
	changed cluster.Changed

	decision v1alpha1.ApprovalDecision
	reason   string
	limit    int
	yes      bool
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Session: s, decision: v1alpha1.DecisionApprove}
	cmd := &cobra.Command{
		Use:   "approve RUN | CLEANER",
		Short: "Approve the plan of a run",
		Long: "Shows the plan of a run of a Cleaner with spec.approval, asks once, and approves it with a CleanerApproval. A run then carries\n" +
			"it out: everything is judged again, and only what is in the plan and still matches is touched. If you give the\n" +
			"name of a Cleaner, its waiting plan is used.\n\n" +
			"You must be allowed to create CleanerApprovals, and need the verb approve on the Cleaner (the ClusterRole whose\n" +
			"name ends with -approver-role gives both). An approval cannot be changed. To end the\n" +
			"run that carries out the plan, use kubectl cleaner cancel.",
		Example: "  kubectl cleaner runs --waiting\n  kubectl cleaner approve unused-configmaps-1795230000\n" +
			"  kubectl cleaner approve unused-configmaps --reason 'checked with team shop' --yes",
	}
	return o.bind(cmd)
}

// RejectCommand ends a plan.
func RejectCommand(s *terminal.Session) *cobra.Command {
	o := &options{Session: s, decision: v1alpha1.DecisionReject}
	cmd := &cobra.Command{
		Use:   "reject RUN | CLEANER",
		Short: "End the plan of a run, so that nothing is touched",
		Long: "Shows the plan of a run of a Cleaner with spec.approval, asks once, and rejects it with a CleanerApproval. Nothing is touched.\n" +
			"The next run of the Cleaner makes another plan. If you give the name of a Cleaner, its waiting plan is used.\n\n" +
			"You need the same rights as for kubectl cleaner approve. A rejection cannot be changed.",
		Example: "  kubectl cleaner reject unused-configmaps-1795230000 --reason 'we still need them'",
	}
	return o.bind(cmd)
}

func (o *options) bind(cmd *cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return terminal.UsageError(cmd, fmt.Sprintf(
				"needs the name of one run or of its Cleaner, and was given %d; kubectl cleaner runs --waiting lists the runs", len(args)))
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.limit < 0 {
			return terminal.UsageError(cmd, "--limit must be at least 0")
		}
		return o.run(cmd.Context(), args[0])
	}
	cmd.Flags().StringVar(&o.reason, "reason", "", "why, in a sentence; the record of the run keeps it")
	cmd.Flags().IntVar(&o.limit, "limit", 50, "how many objects of the plan to list; 0 lists all")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	o.changed.BindOutput(cmd.Flags(), "the CleanerApproval")
	o.Bind(cmd.Flags())
	cmd.ValidArgsFunction = terminal.CompleteFirst(o.complete)
	return cmd
}

// complete names the runs whose plan waits.
func (o *options) complete(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	if api, err := cluster.Connect(o.Session, &o.Connection); err == nil {
		_ = cluster.List[v1alpha1.CleanerList](cmd.Context(), api, cluster.CleanerPath(""), func(c *v1alpha1.Cleaner) {
			if plan := c.Status.Plan; plan != nil {
				names = append(names, cobra.CompletionWithDesc(plan.Run, terminal.Grouped(plan.Objects, "object")))
			}
		}) // none, when it fails
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (o *options) run(ctx context.Context, name string) error {
	api, err := cluster.Connect(o.Session, &o.Connection)
	if err != nil {
		return err
	}
	run, err := approval.Find(ctx, api, name[strings.LastIndex(name, "/")+1:]) // as kubectl prints it
	if err != nil {
		return err
	}
	who, err := approval.Who(ctx, api)
	if err != nil {
		return err
	}
	o.show(run)
	if !o.yes {
		fmt.Fprintf(o.ErrOut, "\n%s\n", o.question(run, who))
		err := o.Confirm(codes.PlanNotConfirmed, "the plan was neither approved nor rejected",
			"to see it: "+terminal.Program+" runs "+run.Name)
		if err != nil {
			return err
		}
	}
	said, err := approval.Say(ctx, api, run, approval.Decision{Decision: o.decision, By: who, Reason: o.reason})
	if err != nil {
		return err
	}
	if err := o.changed.Print(o.Session, said); err != nil {
		return err
	}
	return o.await(ctx, api, run)
}

// question says what is about to be said, and as whom.
func (o *options) question(run *v1alpha1.CleanerRun, who string) string {
	objects := terminal.Grouped(run.Status.Plan.Objects, "object")
	if o.decision == v1alpha1.DecisionReject {
		return fmt.Sprintf("Reject this plan of %s, in the name of %s. Nothing is touched.", objects, who)
	}
	verb := "deletes"
	if run.Spec.Action == v1alpha1.ActionTransform {
		verb = "changes"
	}
	return fmt.Sprintf("Approve this plan, in the name of %s. A run then %s those of the %s that still match.", who, verb, objects)
}
