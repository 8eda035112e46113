// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
)

func (s *shared) versionCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this plugin",
		Args:  none,
		RunE: func(*cobra.Command, []string) error {
			facts := struct {
				Version  string `json:"version"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{s.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			if output == "json" {
				return writeJSON(s.Out, facts)
			}
			_, err := fmt.Fprintf(s.Out, "%s %s (%s, %s)\n", name, facts.Version, facts.Go, facts.Platform)
			return err
		},
	}
	cmd.Flags().VarP(newChoice(&output, "text", "json"), "output", "o", "what to print: text or json")
	return cmd
}

// writeJSON writes a value as people read JSON.
func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
