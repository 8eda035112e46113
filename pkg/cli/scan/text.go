// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"fmt"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

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

// nothing is the sentence about no object at all.
func (j *job) nothing(r *Result) string {
	where, there := "the cluster", ""
	if j.Dump != nil {
		where = "the manifests"
	}
	if j.Namespace != "" {
		where = "namespace " + terminal.OneLine(j.Namespace)
		there = " in " + where
	}
	switch {
	case r.Kinds > 0:
		return fmt.Sprintf("No findings in %s: there is no object of the %s that could be read.", where,
			terminal.Counted(r.Kinds, "kind"))
	case j.Dump != nil:
		return fmt.Sprintf("Nothing is known: the manifests hold no object of a kind that the scan looks for%s.", there)
	}
	return "Nothing could be read, and so nothing is known."
}
