// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// Problem is something that is wrong in a file. Its exported fields are what -o json prints.
type Problem struct {
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

	// Text is the line of the file, where seeing it helps.
	Text string `json:"-"`
}

// MarshalJSON adds the severity.
func (p Problem) MarshalJSON() ([]byte, error) {
	type plain Problem
	return json.Marshal(struct {
		Severity codes.Severity `json:"severity"`
		plain
	}{p.Code.Severity(), plain(p)})
}

// At completes a problem in a field of a document.
func (d *Document) At(field string, code codes.Code, message, hint string) Problem {
	line, _ := d.Find(field)
	return Problem{File: d.File, Line: line, Cleaner: d.Name(), Field: field, Code: code, Message: message, Hint: hint}
}

// Sorted puts problems in the order of the lines, each once.
func Sorted(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	seen := map[Problem]bool{}
	return slices.DeleteFunc(problems, func(p Problem) bool {
		twice := seen[p]
		seen[p] = true
		return twice
	})
}

// CountErrors is how many of the problems are errors.
func CountErrors(problems []Problem) int {
	n := 0
	for _, p := range problems {
		if p.Code.Severity() == codes.SeverityError {
			n++
		}
	}
	return n
}
