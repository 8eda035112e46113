// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package notify is kubectl cleaner notify: it sends a message that says what it is through a Cleaner's channels.
package notify

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/egress"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// timeout bounds one message, with the few tries of the sender.
const timeout = time.Minute

// options are the flags of notify test.
type options struct {
	*terminal.Session
	cluster.Connection
	caFile  string
	allowed string
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
		Short: "Send a sample on the channels of a Cleaner",
		Long: "Sends a message that says that it is a test, on all channels of a Cleaner of the cluster or on the one that you name. The\n" +
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
	cmd.Flags().StringVar(&o.caFile, "notify-ca-file", "", "file with certificates (PEM) of authorities to trust besides the system's, as the operator's flag of this name")
	cmd.Flags().StringVar(&o.allowed, "allowed-notification-hosts", "", "comma-separated hosts that a sample may be sent to although they are this machine or have a private address, as the operator's flag of this name")
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
	authorities, err := notify.Authorities(o.caFile)
	if err != nil {
		return terminal.Fail(codes.FileUnreadable, err, "")
	}
	var allowed egress.Hosts
	if err := allowed.Set(o.allowed); err != nil {
		return terminal.Fail(codes.UsageWrong, fmt.Errorf("--allowed-notification-hosts: %w", err), "")
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
	sender := notify.NewSender(authorities, http.ProxyFromEnvironment, egress.NewGuard(allowed, api.Config.Host),
		clock.RealClock{})
	message := notify.Message{Cleaner: cleaner, Run: sample(cleaner, o.Now()), Test: true}
	failed, err := o.deliverSamples(ctx, api, sender, chosen, message)
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

func deliverSample(ctx context.Context, api *cluster.Client, sender *notify.Sender, n v1alpha1.Notification,
	message notify.Message,
) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	actor := action.NewActor(api.Raw).ForRun(clock.RealClock{}, func(error) bool { return false })
	read := func(ctx context.Context, secret object.Object, _ *v1alpha1.ServiceAccountRef) (*object.Object, error) {
		return actor.Live(ctx, secret)
	}
	settings, err := notify.ReadSettings(ctx, read, n.NotificationRef, nil)
	if err != nil {
		return err
	}
	if message.Cleaner.Spec.ServiceAccountRef != nil { // as the operator does it
		settings.Limited = n.NotificationRef.Namespace
	}
	send := sender.New(n.Type)
	if send == nil {
		return fmt.Errorf("this version does not know the type %q", n.Type)
	}
	return send(ctx, settings, message)
}

// sample is the record of a run that did not take place, and says so.
func sample(cleaner *v1alpha1.Cleaner, now time.Time) *v1alpha1.CleanerRun {
	at := metav1.NewTime(now)
	sample := &v1alpha1.CleanerRun{
		Spec: v1alpha1.CleanerRunSpec{
			Cleaner: cleaner.Name, CleanerUID: cleaner.UID, NominalTime: at,
			Trigger: v1alpha1.TriggerManual, Action: v1alpha1.ActionScan,
		},
		Status: v1alpha1.CleanerRunStatus{
			Phase: v1alpha1.RunCompleted, Reason: v1alpha1.ReasonCompleted, StartTime: &at, CompletionTime: &at,
			Message:   "This is a test of the notification: nothing was run, and there is no such object.",
			RunCounts: v1alpha1.RunCounts{Considered: 1, Matched: 1},
			Objects: []v1alpha1.ObjectOutcome{{
				APIVersion: "v1", Kind: "ConfigMap", Namespace: "example", Name: "example", Outcome: v1alpha1.OutcomeMatched,
				Message: "what a script says of an object stands here",
			}},
		},
	}
	sample.Name, sample.UID = v1alpha1.RunName(cleaner.Name, now), uuid.NewUUID()
	return sample
}
