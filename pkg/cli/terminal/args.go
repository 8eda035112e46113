// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"strings"

	"github.com/spf13/cobra"
)

// AtLeastOne refuses to do nothing; what says what is needed.
func AtLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return UsageError(cmd, "needs "+what)
		}
		return nil
	}
}

// None refuses arguments.
func None(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UsageError(cmd, "takes no arguments, and was given "+Quoted(args[0]))
	}
	return nil
}

// CompleteFirst completes the first argument.
func CompleteFirst(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(given) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, given, begun)
	}
}

// CompleteLast completes the last of the words that stand between commas.
func CompleteLast(begun string, words []string) ([]cobra.Completion, cobra.ShellCompDirective) {
	before := begun[:strings.LastIndex(begun, ",")+1]
	found := make([]cobra.Completion, 0, len(words))
	for _, word := range words {
		found = append(found, before+word)
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
