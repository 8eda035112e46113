// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// completer is what kubectl calls to complete a plugin's words.
const completer = `#!/bin/sh
# Save this as kubectl_complete-cleaner in a directory of your PATH, and make it executable. kubectl's own completion then
# completes "kubectl cleaner" too.
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
