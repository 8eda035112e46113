// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package codes

// The codes with which the process exits.
const (
	ExitDone        = 0
	ExitError       = 1
	ExitUsage       = 2   // wrong flags or arguments
	ExitFindings    = 3   // something was found, with --fail-on-findings
	ExitPartial     = 4   // something could not be read, judged or changed
	ExitInterrupted = 130 // Ctrl-C
)
