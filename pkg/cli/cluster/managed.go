// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Why is why an object has its outcome in the record of a run, with the change that is planned for it. Where the record
// says nothing of the object itself, it is what holds for each of that outcome. It is empty if the object matched, and
// no finding, condition or script said why.
func Why(run *v1alpha1.CleanerRun, o *v1alpha1.ObjectOutcome) string {
	change := ""
	if o.Change != "" {
		change = "change: " + o.Change
	}
	return cmp.Or(strings.Join(terminal.Compact([]string{said(o), change}), "; "), implied(run, o))
}

// implied is why an object has its outcome if the record has neither a reason nor a message for it.
func implied(run *v1alpha1.CleanerRun, o *v1alpha1.ObjectOutcome) string {
	switch o.Outcome {
	case v1alpha1.OutcomeDryRun:
		return "only reported, because " + run.Spec.WhyDryRun()
	case v1alpha1.OutcomeGone:
		return "somebody else deleted it first"
	}
	if hasMatched(o) {
		return ""
	}
	return run.Status.Message
}

// hasMatched reports whether the outcome is that of an object that matched and was not left alone.
func hasMatched(o *v1alpha1.ObjectOutcome) bool {
	switch o.Outcome {
	case v1alpha1.OutcomeMatched, v1alpha1.OutcomePlanned, v1alpha1.OutcomeDeleted, v1alpha1.OutcomeTransformed,
		v1alpha1.OutcomeTerminating, v1alpha1.OutcomeFoundGone:
		return true
	}
	return false
}

// said is what the record says of an object: of one that was left alone or failed, why, and of any other also why it
// matches. What manages the object may make it again, or undo a change, so it is
// named beside the reason too.
func said(o *v1alpha1.ObjectOutcome) string {
	switch {
	case hasMatched(o), o.Outcome == v1alpha1.OutcomeProtected:
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
