// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// codesCommand prints what codes mean. Its help has the table of all, too: kubectl cleaner help codes.
func codesCommand(s *terminal.Session) *cobra.Command {
	rows := codes.Table()
	words := make([]cobra.Completion, 0, len(rows))
	for _, row := range rows {
		words = append(words, cobra.CompletionWithDesc(row[0], row[1]))
	}
	return &cobra.Command{
		Use:               "codes [CODE...]",
		Short:             "The codes of messages, and those with which the process exits",
		Long:              codesText(rows),
		Example:           "  kubectl cleaner codes\n  kubectl cleaner codes E-CLU-003",
		ValidArgsFunction: cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := codesText(rows)
			if len(args) > 0 {
				lines, wrong := codesNamed(rows, args)
				if len(wrong) > 0 {
					return terminal.UsageError(cmd, strings.Join(wrong, "\n"))
				}
				text = strings.Join(lines, "\n")
			}
			_, err := fmt.Fprintln(s.Out, text)
			return err
		},
	}
}

// codesNamed are the lines of some codes. wrong says of each word that it is none.
func codesNamed(rows [][2]string, words []string) (lines, wrong []string) {
	all := make([]string, 0, len(rows))
	for _, row := range rows {
		all = append(all, row[0])
	}
	for _, word := range words {
		if i := slices.Index(all, strings.ToUpper(word)); i >= 0 {
			lines = append(lines, rows[i][0]+"  "+rows[i][1])
			continue
		}
		message := terminal.Quoted(word) + " is no code of a message"
		if near := suggest.Nearest(strings.ToUpper(word), all); near != "" {
			message += "; did you mean " + terminal.Quoted(near) + "?"
		}
		wrong = append(wrong, message)
	}
	return lines, wrong
}

func codesText(rows [][2]string) string {
	var text strings.Builder
	text.WriteString(
		"Messages carry a code that stays the same when their words change. E is an error, W a warning, N a note.\n",
	)
	for _, row := range rows {
		fmt.Fprintf(&text, "\n  %s  %s", row[0], row[1])
	}
	text.WriteString(
		"\n\nThe process exits with 0 when all is well, 1 after an error, 2 after wrong usage, 3 when something was found and\n" +
			"--fail-on-findings was given, 4 when something could not be read, judged, changed, carried over (import) or\n" +
			"delivered (notify test) or when doctor found a WARN or an UNKNOWN and no FAIL, and 130 when it was interrupted.",
	)
	return text.String()
}
