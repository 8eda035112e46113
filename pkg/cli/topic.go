// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// codesTopic is the help page of the codes: kubectl cleaner help codes.
func codesTopic() *cobra.Command {
	var text strings.Builder
	text.WriteString(
		"Messages carry a code that stays the same when their words change. E is an error, W a warning, N a note.\n",
	)
	for _, row := range codes.Table() {
		fmt.Fprintf(&text, "\n  %s  %s", row[0], row[1])
	}
	text.WriteString(
		"\n\nThe process exits with 0 when all is well, 1 after an error, 2 after wrong usage, 3 when something was found and\n" +
			"--fail-on-findings was given, 4 when something could not be read, judged or changed, and 130 when it was\n" +
			"interrupted.",
	)
	return &cobra.Command{
		Use:   "codes",
		Short: "The codes of messages, and those with which the process exits",
		Long:  text.String(),
	}
}
