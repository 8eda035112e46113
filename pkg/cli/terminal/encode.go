// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"encoding/json"
	"io"

	"sigs.k8s.io/yaml"
)

// WriteYAML writes a value as YAML. Where that would hold something unsafe it writes JSON, which is YAML too and
// escapes it.
func WriteYAML(w io.Writer, value any) error {
	text, err := AsYAML(value)
	switch {
	case err != nil:
		return err
	case Clean(text) != text:
		return WriteJSON(w, value)
	}
	_, err = io.WriteString(w, text)
	return err
}

// AsYAML is a value as YAML. It goes through JSON, whose control characters the YAML library refuses unless they are
// escaped.
func AsYAML(value any) (string, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	text, err := yaml.JSONToYAML([]byte(Clean(string(raw))))
	return string(text), err
}

// WriteJSON writes a value as people read JSON.
func WriteJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
