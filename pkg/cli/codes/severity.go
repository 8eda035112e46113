// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package codes

// Severity is how bad a problem is.
type Severity string

// The severities. Each Code has one, given by its first letter.
const (
	// SeverityError keeps a Cleaner from being accepted or from running.
	SeverityError Severity = "error"
	// SeverityWarning is probably a mistake.
	SeverityWarning Severity = "warning"
	// SeverityNote is good to know.
	SeverityNote Severity = "note"
)

// Severity is what the first letter says.
func (c Code) Severity() Severity {
	switch {
	case c == "" || c[0] == 'E':
		return SeverityError
	case c[0] == 'W':
		return SeverityWarning
	}
	return SeverityNote
}
