// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

func versionCommand(s *terminal.Session) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this plugin",
		Long:    "Prints the version of the plugin. It does not ask the operator for its version.",
		Example: "  kubectl cleaner version\n  kubectl cleaner version -o json",
		Args:    terminal.None,
		RunE: func(*cobra.Command, []string) error {
			facts := struct {
				Version  string `json:"version"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{s.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			if output == "json" {
				return terminal.WriteJSON(s.Out, facts)
			}
			_, err := fmt.Fprintf(s.Out, "%s %s (%s, %s)\n", terminal.Program, facts.Version, facts.Go, facts.Platform)
			return err
		},
	}
	cmd.Flags().VarP(terminal.NewChoice(&output, "text", "json"), "output", "o", "what to print: text or json")
	return cmd
}
