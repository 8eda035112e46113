// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// completer is what kubectl calls to complete a plugin's words.
const completer = `#!/bin/sh
# Save this as kubectl_complete-cleaner in a directory of your PATH, and make it executable.
# The completion of kubectl then also completes "kubectl cleaner".
exec kubectl cleaner __complete "$@"
`

// addCompletion adds to cobra's completion command what is needed when kubectl calls the program as a plugin.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		cmd.Short = "Print a script that completes commands in your shell"
		cmd.Args = knownShell
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		cmd.AddCommand(&cobra.Command{
			Use:   "kubectl",
			Short: "Print the script by which kubectl completes this plugin's commands",
			Example: "  kubectl cleaner completion kubectl > ~/bin/kubectl_complete-cleaner\n" +
				"  chmod +x ~/bin/kubectl_complete-cleaner",
			Args: terminal.None,
			RunE: func(cmd *cobra.Command, _ []string) error {
				_, err := fmt.Fprint(cmd.OutOrStdout(), completer)
				return err
			},
		})
	}
}

// knownShell refuses what is none of the commands below completion.
func knownShell(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return terminal.UsageError(
		cmd,
		"has no script for "+terminal.Quoted(args[0])+"; there are bash, zsh, fish and powershell, and kubectl for kubectl's own completion",
	)
}

// completePlaces lets the shell complete the flags of all commands that say which cluster and which namespace to look
// at, and as which account.
func completePlaces(s *terminal.Session, cmd *cobra.Command) {
	if cmd.Flag("kubeconfig") != nil { // it fails for a flag that the command does not have, or that has a completion
		for _, name := range []string{"context", "cluster", "user"} {
			_ = cmd.RegisterFlagCompletionFunc(
				name,
				func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
					return connectionOf(cmd).Named(name), cobra.ShellCompDirectiveNoFileComp
				},
			)
		}
		for name, list := range map[string]func(*cluster.Client, context.Context) ([]string, error){
			"operator-namespace": (*cluster.Client).Namespaces,
			"namespace":          (*cluster.Client).Namespaces,
			"service-account":    (*cluster.Client).ServiceAccounts,
			// Several, with commas.
			"protected-namespaces": (*cluster.Client).Namespaces,
			"exclude":              (*cluster.Client).Namespaces,
		} {
			_ = cmd.RegisterFlagCompletionFunc(
				name,
				func(cmd *cobra.Command, _ []string, begun string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
					if api, err := cluster.Connect(s, connectionOf(cmd)); err == nil {
						names, _ = list(api, cmd.Context()) // none, when it fails
					}
					return terminal.CompleteLast(begun, names)
				},
			)
		}
	}
	for _, sub := range cmd.Commands() {
		completePlaces(s, sub)
	}
}

// connectionOf is the connection that the flags of a command ask for.
func connectionOf(cmd *cobra.Command) *cluster.Connection {
	connection, flags := &cluster.Connection{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	connection.Bind(flags)
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		own := flags.Lookup(flag.Name)
		if own == nil { // it says nothing of the cluster
			return
		}
		several, isSlice := flag.Value.(pflag.SliceValue) // of which String() is no value
		if to, ok := own.Value.(pflag.SliceValue); isSlice && ok {
			_ = to.Replace(several.GetSlice()) // it was valid before
		} else {
			_ = own.Value.Set(flag.Value.String())
		}
	})
	return connection
}
