// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
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

// writeYAML writes a value as YAML. Where that would hold something unsafe it writes JSON, which is YAML too and escapes it.
func writeYAML(w io.Writer, value any) error {
	text, err := asYAML(value)
	switch {
	case err != nil:
		return err
	case clean(text) != text:
		return writeJSON(w, value)
	}
	_, err = io.WriteString(w, text)
	return err
}

// asYAML is a value as YAML. It goes through JSON, whose control characters the YAML library refuses unless they are escaped.
func asYAML(value any) (string, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	text, err := yaml.JSONToYAML([]byte(clean(string(raw))))
	return string(text), err
}

// writeJSON writes a value as people read JSON.
func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
