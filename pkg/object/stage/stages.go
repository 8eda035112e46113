// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package stage has the values that pass through a run, from one stage to the next: Candidate, Verdict, Outcome.
package stage

import (
	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Candidate is an object that a selector selected and its script, if any, found matching.
type Candidate struct {
	object.Object
	// Selector is the index of the selector that selected it.
	Selector int
	// Message is the script's message.
	Message string
	// VolumeBytes is the capacity of a victim that is a claim or a volume. Zero when it is neither, or not known.
	VolumeBytes int64
}

// Verdict is what the run decided about a candidate before anything was touched.
type Verdict struct {
	Candidate
	// Act is true when the object is to be deleted, changed or, in a Scan, reported as a match.
	Act bool
	// Skip, when Act is false, is the word for why the object is left alone, and Reason the sentence. Of a match that a
	// Scan reports although it is protected, Reason says so.
	Skip   v1alpha1.OutcomeResult
	Reason string
}

// Outcome is what became of a verdict.
type Outcome struct {
	Verdict
	Result v1alpha1.OutcomeResult
	// Detail says why an object was left alone or failed.
	Detail string
	// Err is the cause of Result Failed or NotEvaluated, to distinguish a refusal from a fault.
	Err error
	// Unclear is true when an answer about the object was lost, and a live read then showed no change: the request may
	// still be carried out.
	Unclear bool
}

// Handled reports whether a run of the action did to the object what it was asked to do; a Scan is asked to find it.
func (o Outcome) Handled(action v1alpha1.Action) bool {
	switch o.Result {
	case v1alpha1.OutcomeMatched,
		v1alpha1.OutcomeDryRun,
		v1alpha1.OutcomeDeleted,
		v1alpha1.OutcomeFoundGone,
		v1alpha1.OutcomeTerminating,
		v1alpha1.OutcomeTransformed:
		return true
	case v1alpha1.OutcomeGone: // somebody else deleted it first
		return action == v1alpha1.ActionDelete
	default:
		return false
	}
}
