// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"bytes"
	"strings"
	"testing"
)

func TestColour(t *testing.T) {
	tests := []struct {
		color       string
		environment string
		want        bool
	}{
		{"auto", "", false}, // a buffer is no terminal
		{"always", "", true},
		{"always", "NO_COLOR=1", true},
		{"never", "CLICOLOR_FORCE=1", false},
		{"auto", "CLICOLOR_FORCE=1", true},
		{"auto", "CLICOLOR_FORCE=0", false},
		{"auto", "CLICOLOR_FORCE=1 NO_COLOR=1", false},
	}
	for _, tt := range tests {
		s := &Session{Color: tt.color, Options: Options{Getenv: func(name string) string {
			for variable := range strings.FieldsSeq(tt.environment) {
				if value, ok := strings.CutPrefix(variable, name+"="); ok {
					return value
				}
			}
			return ""
		}}}
		screen, _ := newOutputs(&bytes.Buffer{}, nil)
		if got := s.Paint(screen) != ""; got != tt.want {
			t.Errorf("--color=%s with %q: %v, want %v", tt.color, tt.environment, got, tt.want)
		}
	}
}
