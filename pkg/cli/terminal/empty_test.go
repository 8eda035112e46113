// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// A flag that refuses to be empty has no default that --help would show.
func TestNotEmptyShowsNoDefault(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("a", pflag.ContinueOnError)
	flags.StringSlice("kind", nil, "kinds")
	NotEmpty(flags, "kind")
	if usage := flags.FlagUsages(); strings.Contains(usage, "default") {
		t.Errorf("%s", usage)
	}
	if err := flags.Parse([]string{"--kind", ""}); err == nil {
		t.Error("an empty value is taken")
	}
}
