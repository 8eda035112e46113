// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Print writes it so that editors can jump to it: file:line:column: severity: ...
func Print(w io.Writer, paint terminal.Paint, p manifest.Problem) {
	place := ""
	if p.File != "" {
		place = fmt.Sprintf("%s:%d", p.File, p.Line)
		if p.Column > 0 {
			place += fmt.Sprintf(":%d", p.Column)
		}
		place += ": "
	}
	severity := string(p.Code.Severity()) + ":"
	switch p.Code.Severity() {
	case codes.SeverityError:
		severity = paint.Red(severity)
	case codes.SeverityWarning:
		severity = paint.Yellow(severity)
	}
	var about []string
	for _, part := range []string{p.Cleaner, shortField(p.Field)} {
		if part != "" {
			about = append(about, part)
		}
	}
	words := strings.Join(append(about, p.Message), ": ")
	fmt.Fprintf(w, "%s%s %s   [%s]\n", place, severity, words, p.Code)
	if p.Text != "" {
		number := fmt.Sprintf("%6d | ", p.Line)
		fmt.Fprintf(w, "%s%s\n", number, p.Text)
		if p.Column > 0 {
			fmt.Fprintf(w, "%s%s%s\n", strings.Repeat(" ", len(number)), caretIndent(p.Text, p.Column), paint.Red("^"))
		}
	}
	if p.Hint != "" {
		fmt.Fprintf(w, "  %s %s\n", paint.Bold("hint:"), p.Hint)
	}
}

// shortField leaves out what is the same in every Cleaner.
func shortField(field string) string {
	const set = "spec.resourcePolicySet."
	if strings.HasPrefix(field, selectorsField) || field == set+"aggregatedSelection" {
		return strings.TrimPrefix(field, set)
	}
	return field
}

// caretIndent is white space as wide as the text before the column: tabs stay tabs.
func caretIndent(text string, column int) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, terminal.Clean(text[:min(column-1, len(text))]))
}
