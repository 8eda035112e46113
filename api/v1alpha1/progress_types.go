// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ProgressPhase is what a run is doing.
// +kubebuilder:validation:Enum=Waiting;Listing;Judging;Copying;Acting
type ProgressPhase string

const (
	// ProgressWaiting is a run that needs more memory for its scripts than it had, and waits to start again with more.
	ProgressWaiting ProgressPhase = "Waiting"
	// ProgressListing is a run that reads objects and judges each of them as it comes.
	ProgressListing ProgressPhase = "Listing"
	// ProgressJudging is a run that judges all that it found together: by a script, by limits and by what is protected.
	ProgressJudging ProgressPhase = "Judging"
	// ProgressCopying is a run that writes down what it is going to touch, with copies.
	ProgressCopying ProgressPhase = "Copying"
	// ProgressActing is a run that deletes or changes objects.
	ProgressActing ProgressPhase = "Acting"
)

// RunProgress is how far a run has come in what it is doing.
type RunProgress struct {
	// phase is what the run is doing: Waiting (to start again with more memory for its scripts), Listing, Judging, Copying
	// or Acting.
	// +required
	Phase ProgressPhase `json:"phase"`

	// kind is what is being listed, for example ConfigMap. Absent in other phases.
	// +optional
	Kind string `json:"kind,omitempty"`

	// done is how many objects the run has handled in this phase. While listing, these are the objects that were judged or
	// skipped, not those that were only read. A list that had to start again is counted again.
	// +required
	Done int64 `json:"done"`

	// total is how many objects there are to handle in this phase. Absent when that is not known, for example while
	// listing.
	// +optional
	Total *int64 `json:"total,omitempty"`

	// matched is how many of those match. Absent in other phases than listing.
	// +optional
	Matched *int64 `json:"matched,omitempty"`

	// rate is the average number of objects per second that the run has handled in this phase.
	// +required
	Rate int64 `json:"rate"`

	// updateTime is the time of these values.
	// +required
	UpdateTime metav1.Time `json:"updateTime"`
}
