// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// problem is something that is wrong in a file. Its exported fields are what -o json prints.
type problem struct {
	File string `json:"file"`
	// Line and Column count from 1. Column is 0 where it is not known.
	Line    int    `json:"line"`
	Column  int    `json:"column,omitempty"`
	Cleaner string `json:"cleaner"`
	// Field is the path of the field, for example spec.schedule.
	Field   string     `json:"field"`
	Code    codes.Code `json:"code"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`

	// text is the line of the file, where seeing it helps.
	text string
}

// MarshalJSON adds the severity.
func (p problem) MarshalJSON() ([]byte, error) {
	type plain problem
	return json.Marshal(struct {
		Severity codes.Severity `json:"severity"`
		plain
	}{p.Code.Severity(), plain(p)})
}

// at completes a problem in a field of a document.
func (d *document) at(field string, code codes.Code, message, hint string) problem {
	line, _ := d.find(field)
	return problem{File: d.file, Line: line, Cleaner: d.name(), Field: field, Code: code, Message: message, Hint: hint}
}

// sorted puts problems in the order of the lines, each once.
func sorted(problems []problem) []problem {
	slices.SortStableFunc(problems, func(a, b problem) int { return cmp.Compare(a.Line, b.Line) })
	seen := map[problem]bool{}
	return slices.DeleteFunc(problems, func(p problem) bool {
		twice := seen[p]
		seen[p] = true
		return twice
	})
}

func countErrors(problems []problem) int {
	n := 0
	for _, p := range problems {
		if p.Code.Severity() == codes.SeverityError {
			n++
		}
	}
	return n
}
