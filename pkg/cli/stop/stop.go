// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package stop is kubectl cleaner stop, suspend and resume: the annotation that ends all acting, whether the operator
// saw it, and spec.suspend of single Cleaners.
package stop

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

// options are the flags of stop and of resume.
type options struct {
	*terminal.Session
	cluster.Connection
	reason    string
	namespace string
	selector  string
	changed   cluster.Changed
	// waited is how long resume waited for the operator so far.
	waited time.Duration
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Stop all deletes and changes at once, in an emergency",
		Long: "Stops the operator from deleting and changing anything, by an annotation on its namespace (" + v1alpha1.StopAnnotation + "). Within about a second\n" +
			"no run begins another object. Until kubectl cleaner resume, runs only report, and say so. Nothing is restarted.\n\n" +
			"If there are Cleaners, and no Cleaner's status shows the stop within 10 seconds, the command exits with an error. Then the operator is in\n" +
			"another namespace, or is not running.\n" +
			"You must be allowed to patch the operator's namespace. To stop one Cleaner only, use kubectl cleaner suspend NAME.",
		Example: "  kubectl cleaner stop\n  kubectl cleaner stop --reason 'incident 7'",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return terminal.UsageError(
					cmd,
					"takes no arguments, because it stops all Cleaners; to stop one: "+terminal.Program+" suspend "+terminal.ShellWord(
						args[0],
					),
				)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return o.stop(cmd.Context()) },
	}
	cmd.Flags().StringVar(&o.reason, "reason", "", "why you stop, as information for others; your name and the time are added")
	o.bindAll(cmd, "the operator's namespace")
	return cmd
}

// ResumeCommand takes a stop back or, with names, a suspend.
func ResumeCommand(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
	cmd := &cobra.Command{
		Use:   "resume [NAME ... | -l SELECTOR]",
		Short: "Resume deletes and changes after a stop, or single Cleaners after a suspend",
		Long: "Without a name, undoes kubectl cleaner stop: removes the annotation " + v1alpha1.StopAnnotation + " from the operator's namespace. Runs that\n" +
			"were stopped are not repeated: the next run of each Cleaner judges everything again, and acts. Suspended Cleaners stay\n" +
			"suspended.\n\n" +
			"With names or labels, undoes kubectl cleaner suspend: sets spec.suspend of these Cleaners to false. A stop stays in force.",
		Example: "  kubectl cleaner resume\n  kubectl cleaner resume unused-configmaps\n  kubectl cleaner resume -l team=a",
		RunE: func(cmd *cobra.Command, names []string) error {
			if len(names) == 0 && !cmd.Flags().Changed("selector") { // an empty one is refused
				return o.resume(cmd.Context())
			}
			if o.namespace != "" {
				return terminal.UsageError(cmd, "-n, --operator-namespace can be used only for a resume without a name, which undoes a stop; Cleaners belong to no namespace")
			}
			return o.setSuspended(cmd, names, false)
		},
	}
	cluster.BindSelector(cmd.Flags(), &o.selector)
	o.bindAll(cmd, "the Cleaners, or the operator's namespace,")
	cmd.ValidArgsFunction = cluster.CompleteCleaners(s, &o.Connection)
	return cmd
}

func (o *options) bindAll(cmd *cobra.Command, what string) {
	cluster.BindOperatorNamespace(cmd.Flags(), &o.namespace)
	o.changed.BindOutput(cmd.Flags(), what)
	o.Bind(cmd.Flags())
	cmd.ValidArgsFunction = cobra.NoFileCompletions
}

func (o *options) stop(ctx context.Context) error {
	api, namespace, err := o.find(ctx)
	if err != nil {
		return err
	}
	if err := o.misplaced(ctx, api, namespace); err != nil {
		return err
	}
	reason, already, err := o.annotated(ctx, api, namespace)
	if err != nil {
		return err
	}
	fmt.Fprintf(
		o.ErrOut,
		"namespace %s is annotated %s%s: %s\n",
		namespace,
		v1alpha1.StopAnnotation,
		already,
		reasonWords(reason),
	)
	unseen, err := o.acknowledged(ctx, api, namespace, stop.Words(reason))
	if err != nil {
		return err
	}
	if unseen == "" {
		fmt.Fprintln(o.ErrOut, "all acting is stopped: the operator has seen it")
		fmt.Fprintln(
			o.ErrOut,
			"each active run finishes the objects that it is working on (at most 16); Cleaners still run, but only report: kubectl get cleaners shows Scan for each",
		)
	} else {
		o.Note(
			"whether the operator knows of it could not be seen: %s; it counts if %s is the operator's namespace (--operator-namespace)",
			unseen,
			namespace,
		)
	}
	o.hintResume()
	return nil
}

// annotated sees to it that the namespace has the annotation, and returns its value. already is " already" when it was
// there.
func (o *options) annotated(
	ctx context.Context,
	api *cluster.Client,
	namespace string,
) (value, already string, err error) {
	there, _ := stopReason(ctx, api, namespace)
	why := strings.TrimSpace(o.reason)
	if there != nil && strings.Contains(*there, why) { // also when no reason is given
		return *there, " already", o.changed.PrintRead(ctx, o.Session, api, namespacePath(namespace))
	}
	value = "at " + o.Now().UTC().Format(time.RFC3339)
	if who := api.WhoAmI(ctx); who != "" {
		value = "by " + who + " " + value
	}
	if why != "" {
		value = why + ", " + value
	}
	if there != nil { // who stopped it first stays to be seen
		value = value + "; before: " + *there
	}
	if len(value) > maxReason {
		return "", "", terminal.Fail(
			codes.UsageWrong,
			fmt.Errorf(
				"the reason is too long: with the name and the time it has %d bytes of at most %d",
				len(value),
				maxReason,
			),
			"write the rest where people look for it, and name that place in --reason",
		)
	}
	return value, "", o.annotate(ctx, api, namespace, &value)
}

// maxReason is how long the annotation's value may be, in bytes: it stands in the status of each Cleaner, in messages
// and in a metric.
const maxReason = 1024

func (o *options) hintResume() {
	resume := terminal.Program + " resume"
	if o.namespace != "" {
		resume += " -n " + terminal.ShellWord(o.namespace)
	}
	fmt.Fprintf(o.ErrOut, "%s to let Cleaners act again: %s\n", o.Paint(o.ErrOut).Bold("hint:"), resume)
}

func reasonWords(reason string) string {
	if reason == "" {
		return "without a reason"
	}
	return terminal.Quoted(reason)
}
