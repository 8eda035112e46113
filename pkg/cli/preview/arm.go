// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

// armHint says which action the Cleaner of a Scan waits for: Transform if it says what to change, and Delete otherwise.
// It is empty if the Cleaner would not be accepted with that action, because some findings are only reported, or could
// touch nothing.
func armHint(cleaner *v1alpha1.Cleaner) string {
	spec := &cleaner.Spec
	action, verb := v1alpha1.ActionDelete, "delete"
	if spec.Transform != "" || spec.MergePatch != nil {
		action, verb = v1alpha1.ActionTransform, "change"
	}
	if limit := spec.BlastRadiusLimit; limit != nil && limit.MaxCount != nil && *limit.MaxCount == 0 {
		return ""
	}
	for i := range spec.ResourcePolicySet.ResourceSelectors {
		if finding.CheckSelector(&spec.ResourcePolicySet.ResourceSelectors[i], action) != nil {
			return ""
		}
	}
	return fmt.Sprintf(
		"to %s what matches instead of reporting it, set spec.action to %s, and preview again",
		verb,
		action,
	)
}
