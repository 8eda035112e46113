// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Types of the conditions of a CleanerRun.
const (
	// ConditionCompleted is true when the run has ended, well or not. Its reason is that of the run.
	ConditionCompleted = "Completed"
	// ConditionActed is true when the run deleted or changed at least one object, as status.acted counts them.
	ConditionActed = "Acted"
)

// Reasons of the condition Acted, besides that of a run that did not end well.
const (
	ReasonObjectsActedOn = "ObjectsActedOn"
	// ReasonNothingMatched says that there was nothing to act on.
	ReasonNothingMatched = "NothingMatched"
	// ReasonAllSkipped says that everything that matched was left alone; each object says why.
	ReasonAllSkipped = "AllSkipped"
	// ReasonScan says that the action is Scan.
	ReasonScan = "Scan"
	// ReasonDryRun says that the operator ran with --dry-run.
	ReasonDryRun = "DryRun"
	// ReasonOutcomesUnknown says that the run was cut off, and that it is not known what became of the objects.
	ReasonOutcomesUnknown = "OutcomesUnknown"
)

// maxConditionMessage bounds a condition's message in bytes: status.message has all of it.
const maxConditionMessage = 1024

// EndConditions are the conditions of a run as its record says that it went. There are none as long as it goes on.
func (r *CleanerRun) EndConditions() []metav1.Condition {
	if !r.Status.Phase.Final() || r.Status.CompletionTime == nil {
		return nil
	}
	condition := func(name string, status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{
			Type: name, Status: status, Reason: reason, Message: Truncate(r.Status.Message, maxConditionMessage),
			LastTransitionTime: *r.Status.CompletionTime,
		}
	}
	acted, why := r.acted()
	return []metav1.Condition{
		condition(ConditionCompleted, metav1.ConditionTrue, r.endReason()),
		condition(ConditionActed, acted, why),
	}
}

// endReason is why the run ended as it did. The API server refuses a condition without a reason.
func (r *CleanerRun) endReason() string { return cmp.Or(r.Status.Reason, string(r.Status.Phase)) }

// acted says whether an ended run acted on anything, and why it did not.
func (r *CleanerRun) acted() (metav1.ConditionStatus, string) {
	counts := r.Status.RunCounts
	switch {
	case counts.Acted > 0:
		return metav1.ConditionTrue, ReasonObjectsActedOn
	case r.Status.Intent != nil && r.hasPlanned():
		return metav1.ConditionUnknown, ReasonOutcomesUnknown
	case r.Status.Phase != RunCompleted, r.Status.Plan != nil:
		return metav1.ConditionFalse, r.endReason()
	case r.Spec.DryRun:
		return metav1.ConditionFalse, ReasonDryRun
	case r.Spec.Action == ActionScan:
		return metav1.ConditionFalse, ReasonScan
	case counts.Matched == 0:
		return metav1.ConditionFalse, ReasonNothingMatched
	}
	return metav1.ConditionFalse, ReasonAllSkipped
}

// hasPlanned reports whether it is not known what became of some objects.
func (r *CleanerRun) hasPlanned() bool {
	return slices.ContainsFunc(r.Status.Tallies, func(t ObjectTally) bool { return t.Outcome == OutcomePlanned })
}
