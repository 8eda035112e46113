// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cli is the kubectl plugin: kubectl cleaner. Each command is a package of its own below this one. What a
// command found goes to the standard output, all else to the standard error; both go through pkg/cli/terminal, which
// lets nothing pass that a terminal obeys.
package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/pkg/cli/approve"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cancel"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dashboard"
	"github.com/kubecleaner/kubecleaner/pkg/cli/doctor"
	"github.com/kubecleaner/kubecleaner/pkg/cli/imports"
	"github.com/kubecleaner/kubecleaner/pkg/cli/initialize"
	"github.com/kubecleaner/kubecleaner/pkg/cli/lint"
	"github.com/kubecleaner/kubecleaner/pkg/cli/notify"
	"github.com/kubecleaner/kubecleaner/pkg/cli/preview"
	"github.com/kubecleaner/kubecleaner/pkg/cli/rbac"
	"github.com/kubecleaner/kubecleaner/pkg/cli/restore"
	"github.com/kubecleaner/kubecleaner/pkg/cli/run"
	"github.com/kubecleaner/kubecleaner/pkg/cli/runs"
	"github.com/kubecleaner/kubecleaner/pkg/cli/scan"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/stop"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/cli/trial"
	"github.com/kubecleaner/kubecleaner/pkg/cli/why"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// Execute runs the command that args name and returns the code to exit with.
func Execute(ctx context.Context, streams genericiooptions.IOStreams, options terminal.Options, args []string) int {
	s := terminal.New(streams, options)
	root := command(s)
	root.SetArgs(append([]string{}, args...)) // nil would mean the process's own
	code := s.Conclude(ctx, root.ExecuteContext(ctx))
	// Who reads the beginning only, as head does, wants no error.
	if err := s.WriteError(); err != nil && !errors.Is(err, syscall.EPIPE) {
		return s.Conclude(ctx, terminal.Fail(codes.OutputFailed, fmt.Errorf("writing the output: %w", err), ""))
	}
	return code
}

func command(s *terminal.Session) *cobra.Command {
	root := &cobra.Command{
		Use:         "kubectl-cleaner",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: terminal.Program},
		Short:       "Find what nobody uses, check and try Cleaners, run them, and undo what they did",
		Long: "scan shows what is unused or broken in a cluster, and why says who uses an object; they need nothing to be installed.\n" +
			"Cleaners find resources of a Kubernetes cluster on a schedule, and delete, change or report them.\n" +
			"This plugin checks them and tries them out before they do so.",
		Version:       s.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          onlyCommands,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.ErrOut)
	root.SetVersionTemplate("{{.DisplayName}} {{.Version}}\n")
	root.SetUsageTemplate(usageTemplate(s.Width()))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return terminal.UsageError(cmd, mistaken(cmd, err))
	})
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		s.Repeat(search.Given(cmd.Flags(), search.ConnectingTo...))
		return oneScope(cmd)
	}
	root.PersistentFlags().
		Var(terminal.NewChoice(&s.Color, "auto", "always", "never"), "color", "when to use colours: auto, always or never")
	root.SetHelpCommand(helpCommand())
	root.AddCommand(commands(s)...)
	addCompletion(root)
	completeChoices(root)
	completePlaces(s, root)
	return root
}

// commands are the commands in the order of the help.
func commands(s *terminal.Session) []*cobra.Command {
	return []*cobra.Command{
		scan.Command(s),
		why.Command(s),
		imports.Command(s),
		initialize.Command(s),
		lint.Command(s),
		trial.Command(s),
		preview.Command(s),
		run.Command(s),
		runs.Command(s),
		approve.Command(s),
		approve.RejectCommand(s),
		restore.Command(s),
		rbac.Command(s),
		doctor.Command(s),
		dashboard.Command(s),
		stop.Command(s),
		stop.SuspendCommand(s),
		stop.ResumeCommand(s),
		cancel.Command(s),
		notify.Command(s),
		versionCommand(s),
		codesCommand(s),
	}
}

// usageTemplate is cobra's, with the texts of flags broken into lines that fit. Width 0 breaks none.
func usageTemplate(width int) string {
	standard := (&cobra.Command{}).UsageTemplate()
	return strings.ReplaceAll(standard, "Flags.FlagUsages ", fmt.Sprintf("Flags.FlagUsagesWrapped %d ", width))
}

// onlyCommands refuses what is no subcommand, with the nearest one.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	message := "there is no command " + terminal.Quoted(args[0])
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	if near := suggest.Nearest(args[0], names); near != "" {
		message += "; did you mean " + terminal.Quoted(near) + "?"
	}
	return terminal.UsageError(cmd, message)
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || found == nil || len(rest) > 0 {
				return onlyCommands(cmd.Root(), []string{strings.Join(args, " ")})
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}
