// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "fmt"

// The types in this file are of fields of k8s-cleaner that this version knows in order to refuse them, or to keep what stored
// objects hold in them.

// LogSource is which logs k8s-cleaner reads.
type LogSource struct {
	// containers are the containers whose logs are read.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Containers []string `json:"containers,omitempty"`

	// tailLines is how many lines are read.
	// +optional
	TailLines *int64 `json:"tailLines,omitempty"`

	// previous asks for the logs of the container's earlier instance.
	// +optional
	Previous *bool `json:"previous,omitempty"`
}

// Unsupported returns the fields of k8s-cleaner that this Cleaner uses and this version does not honour. The CRD refuses them;
// a Cleaner that was stored before still has them, and without what they ask for it would judge, or delete, wrongly.
func (c *Cleaner) Unsupported() []string {
	var fields []string
	add := func(used bool, field string) {
		if used {
			fields = append(fields, field)
		}
	}
	for i, selector := range c.Spec.ResourcePolicySet.ResourceSelectors {
		add(selector.LogSource != nil, fmt.Sprintf("resourceSelectors[%d].logSource", i))
	}
	return fields
}
