// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cli is the kubectl plugin: kubectl cleaner. One file, or a few, per subcommand. What a command found goes to the
// standard output, all else to the standard error; both go through the terminal in terminal.go, which lets nothing pass that a terminal
// obeys. The codes with which it exits are below, those of its messages in codes.go.
package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// name is how users call the program.
const name = "kubectl cleaner"

// Options are what the commands need from outside.
type Options struct {
	// Version is the program's.
	Version string
	// Scripts says how the processes that run scripts are started.
	Scripts sandbox.Config
	Now     func() time.Time
	// Clock measures waiting. Nil is the real one.
	Clock clock.WithTicker
	// Getenv reads the environment.
	Getenv func(string) string
}

// shared is what all commands have in common.
type shared struct {
	genericiooptions.IOStreams
	Options
	color string
}

// Execute runs the command that args name and returns the code to exit with.
func Execute(ctx context.Context, streams genericiooptions.IOStreams, options Options, args []string) int {
	out, errOut := newTerminals(streams.Out, streams.ErrOut)
	streams.Out, streams.ErrOut = out, errOut
	s := &shared{IOStreams: streams, Options: options}
	root := s.command()
	root.SetArgs(append([]string{}, args...)) // nil would mean the process's own
	code := s.conclude(ctx, root.ExecuteContext(ctx))
	// Who reads the beginning only, as head does, wants no error.
	if err := out.failed(); err != nil && !errors.Is(err, syscall.EPIPE) {
		return s.conclude(ctx, fail(codes.OutputFailed, fmt.Errorf("writing the output: %w", err), ""))
	}
	return code
}

func (s *shared) command() *cobra.Command {
	root := &cobra.Command{
		Use:         "kubectl-cleaner",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: name},
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
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError(cmd, err.Error()) })
	root.PersistentFlags().Var(newChoice(&s.color, "auto", "always", "never"), "color", "when to use colours: auto, always or never")
	root.SetHelpCommand(s.helpCommand())
	root.AddCommand(s.scanCommand(), s.whyCommand(), s.lintCommand(), s.testCommand(), s.previewCommand(), s.runCommand(), s.runsCommand(), s.restoreCommand(),
		s.stopCommand(), s.resumeCommand(), s.notifyCommand(), s.versionCommand(), codesTopic())
	addCompletion(root)
	return root
}

// onlyCommands refuses what is no subcommand, with the nearest one.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	message := "there is no command " + quoted(args[0])
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	if near := suggest.Nearest(args[0], names); near != "" {
		message += "; did you mean " + quoted(near) + "?"
	}
	return usageError(cmd, message)
}

// atLeastOne refuses to do nothing; what says what is needed.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError(cmd, "needs "+what)
		}
		return nil
	}
}

// none refuses arguments.
func none(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError(cmd, "takes no arguments, and was given "+quoted(args[0]))
	}
	return nil
}

func (s *shared) helpCommand() *cobra.Command {
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
