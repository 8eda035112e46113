// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/json"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Why is why an object has its outcome in a record. What manages the object may make it again, or undo a change, so it
// is named beside the reason too.
func Why(o *v1alpha1.ObjectOutcome) string {
	switch {
	case o.Outcome == v1alpha1.OutcomeMatched, o.Outcome == v1alpha1.OutcomeProtected:
		return terminal.Because(o.Reason, o.Message)
	case o.Reason == "":
		return o.Message
	}
	return object.WithManager(o.Reason, object.ManagerIn(o.Message))
}

// ManagedBy names what manages the Cleaner, such as a GitOps tool. Empty when nothing does that says so.
func ManagedBy(cleaner *v1alpha1.Cleaner) string {
	raw, err := json.Marshal(cleaner)
	if err != nil {
		return ""
	}
	return object.Object{Raw: raw}.ManagedBy()
}
