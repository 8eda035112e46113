// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// why is the reason, and of what is unknown what could not be read.
func (f *scanFinding) why() string {
	if len(f.NotReadable) == 0 {
		return f.Reason
	}
	kinds := make([]string, 0, len(f.NotReadable))
	for _, u := range f.NotReadable {
		kinds = append(kinds, u.words())
	}
	return f.Reason + "; not readable: " + terminal.Shortened(kinds, 4)
}

// whyAndManager is the reason, for tables that have no column for what manages the object.
func (f *scanFinding) whyAndManager() string {
	if f.ManagedBy == "" {
		return f.why()
	}
	return f.why() + " (" + f.ManagedBy + ")"
}

// words name a kind, or all kinds of a group.
func (u scanUnread) words() string {
	if u.Kind == "*" {
		return "all of " + u.Group
	}
	if u.Elsewhere {
		return u.Kind + " of other namespaces"
	}
	return u.Kind
}

// listed is "a, b or c".
func listed(types []v1alpha1.FindingType, last string) string {
	words := make([]string, 0, len(types))
	for _, t := range types {
		words = append(words, string(t))
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}
