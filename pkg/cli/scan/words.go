// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
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
