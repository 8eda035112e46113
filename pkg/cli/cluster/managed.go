// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/json"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// ManagedBy names what manages the Cleaner, such as a GitOps tool. Empty when nothing does that says so.
func ManagedBy(cleaner *v1alpha1.Cleaner) string {
	raw, err := json.Marshal(cleaner)
	if err != nil {
		return ""
	}
	return object.Object{Raw: raw}.ManagedBy()
}
