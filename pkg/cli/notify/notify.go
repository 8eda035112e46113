// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package notify is kubectl cleaner notify: it sends a message that says what it is through a Cleaner's channels.
package notify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
)

// timeout bounds one message, with the few tries of the sender.
const timeout = time.Minute

// options are the flags of notify test.
type options struct {
	*terminal.Session
	cluster.Connection
	caFile  string
	allowed string
	page    string
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "notify",
		Short: "Try the notifications of a Cleaner",
		Args: func(cmd *cobra.Command, _ []string) error {
			return terminal.UsageError(cmd, "notify has one command: notify test CLEANER [NOTIFICATION]")
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(testCommand(s))
	return cmd
}

func testCommand(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
	cmd := &cobra.Command{
		Use:   "test CLEANER [NOTIFICATION]",
		Short: "Send a sample to the channels of a Cleaner",
		Long: "Sends a message that is marked as a test, to all channels of a Cleaner of the cluster or to the one that you name. The\n" +
			"message is sent from this machine, and the Secrets are read with your own rights. No Cleaner runs or changes.\n\n" +
			"It exits with 0 if all messages were delivered, with 4 if some were, and with 1 if none was.",
		Example: "  kubectl cleaner notify test unused-configmaps\n  kubectl cleaner notify test unused-configmaps slack",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return terminal.UsageError(cmd, fmt.Sprintf("needs the name of a Cleaner and, if not all, of one of its notifications, and was given %d names", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	cmd.Flags().StringVar(&o.caFile, "notify-ca-file", "", "same as the operator's flag --notify-ca-file: file with certificates (PEM) of authorities to trust besides the system's")
	cmd.Flags().StringVar(&o.allowed, "allowed-notification-hosts", "", "same as the operator's flag --allowed-notification-hosts: comma-separated hosts that a sample may be sent to, even if they are this machine or have a private address")
	cmd.Flags().StringVar(&o.page, "dashboard-url", "", "same as the operator's flag --dashboard-url: address of the dashboard, to which the sample then links")
	o.Bind(cmd.Flags())
	cmd.ValidArgsFunction = o.complete
	return cmd
}

// complete completes the name of a Cleaner, and then of one of its notifications.
func (o *options) complete(cmd *cobra.Command, given []string,
	begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(given) != 1 {
		return terminal.CompleteFirst(cluster.CompleteCleaners(o.Session, &o.Connection))(cmd, given, begun)
	}
	var names []cobra.Completion
	api, err := cluster.Connect(o.Session, &o.Connection)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	cleaner, err := api.Cleaner(cmd.Context(), given[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, n := range cleaner.Spec.Notifications {
		if n.Type.NeedsSecret() {
			names = append(names, cobra.CompletionWithDesc(n.Name, string(n.Type)))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (o *options) run(ctx context.Context, args []string) error {
	senderTo, err := o.senderTo()
	if err != nil {
		return err
	}
	api, err := cluster.Connect(o.Session, &o.Connection)
	if err != nil {
		return err
	}
	cleaner, err := api.Cleaner(ctx, args[0])
	if err != nil {
		return err
	}
	chosen, err := chooseNotifications(cleaner, args[1:])
	if err != nil {
		return err
	}
	if kept := keptInCluster(cleaner); len(args) == 1 && len(kept) > 0 {
		o.Note("no sample of %s: the operator writes it into the cluster", strings.Join(kept, ", "))
	}
	message := notify.Message{Cleaner: cleaner, Run: sample(cleaner, o.Now()), Test: true}
	failed, err := o.deliverSamples(ctx, api, senderTo(api.Config.Host), chosen, message)
	if err != nil {
		return err
	}
	switch failed {
	case 0:
		return nil
	case len(chosen):
		return terminal.Quit(codes.ExitError)
	}
	return terminal.Quit(codes.ExitPartial)
}

// chooseNotifications are the Cleaner's that are sent to a service or, of those, the one that is named.
func chooseNotifications(cleaner *v1alpha1.Cleaner, wanted []string) ([]v1alpha1.Notification, error) {
	var names []string
	var sent []v1alpha1.Notification
	for _, n := range cleaner.Spec.Notifications {
		names = append(names, terminal.OneLine(n.Name))
		if n.Type.NeedsSecret() && (len(wanted) == 0 || n.Name == wanted[0]) {
			sent = append(sent, n)
		}
	}
	switch {
	case len(sent) > 0:
		return sent, nil
	case len(wanted) == 0:
		return nil, terminal.Fail(codes.NotificationNotFound, fmt.Errorf("cleaner %q sends no messages", cleaner.Name), terminal.Docs+"how-to/notifications.md says how to add a notification; CleanerReport and Event stay in the cluster")
	case slices.Contains(names, wanted[0]):
		return nil, terminal.Fail(codes.NotificationNotFound, fmt.Errorf("notification %q of cleaner %q is sent to no service: the operator writes it into the cluster", wanted[0], cleaner.Name), "")
	case len(names) == 0:
		return nil, terminal.Fail(codes.NotificationNotFound,
			fmt.Errorf("cleaner %q has no notification %q; it has none at all", cleaner.Name, wanted[0]), "")
	}
	return nil, terminal.Fail(codes.NotificationNotFound,
		fmt.Errorf("cleaner %q has no notification %q", cleaner.Name, wanted[0]), "there are: "+strings.Join(names, ", "))
}

// keptInCluster are the names of the notifications that are sent to no service.
func keptInCluster(cleaner *v1alpha1.Cleaner) []string {
	var names []string
	for _, n := range cleaner.Spec.Notifications {
		if !n.Type.NeedsSecret() {
			names = append(names, fmt.Sprintf("%s (%s)", terminal.OneLine(n.Name), n.Type))
		}
	}
	return names
}

// deliverSamples sends the message to each notification, and shows how that went. It returns how many failed.
func (o *options) deliverSamples(ctx context.Context, api *cluster.Client, sender *notify.Sender,
	chosen []v1alpha1.Notification, message notify.Message,
) (failed int, err error) {
	rows := &terminal.Table{Out: o.Out, Paint: o.Paint(o.Out), Header: []string{"NOTIFICATION", "TYPE", "RESULT"}}
	for _, n := range chosen {
		result, colour := "delivered", rows.Paint.Green
		message.Notification = n.Name
		if err := deliverSample(ctx, api, sender, n, message); err != nil {
			result, colour = err.Error(), rows.Paint.Red
			failed++
		}
		rows.Add([]terminal.Cell{{Text: n.Name}, {Text: string(n.Type)}, {Text: result, In: colour}})
		rows.Flush() // one may take its time
		if ctx.Err() != nil {
			return failed, terminal.OrStopped(ctx, context.Cause(ctx))
		}
	}
	return failed, nil
}
