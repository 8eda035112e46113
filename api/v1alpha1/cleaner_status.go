// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"crypto/sha256"
	"encoding/hex"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CleanerStatus is what the operator last saw and did.
type CleanerStatus struct {
	// conditions are the Cleaner's state: Ready (it runs on its schedule, or is suspended), Stalled (only an edit makes it
	// ready), RunSucceeded (how the last run ended) and, with notifications, NotificationsDelivered.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the metadata.generation of the spec that the conditions describe.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// observedSpec is the generation of the spec that the operator saw last, and a hash of that spec. If the spec is
	// different but its generation is the same, the API server dropped or changed fields, and nobody edited the spec.
	// Then the Cleaner does not run.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	ObservedSpec string `json:"observedSpec,omitempty"`

	// schedule is spec.schedule in words, for example "every day at 03:00 UTC".
	// +optional
	Schedule string `json:"schedule,omitempty"`

	// action is what a run does: Delete, Transform or Scan. It is Scan for every Cleaner while the operator runs with
	// --dry-run, or while all acting is stopped, and for this one until spec.scanUntil.
	// +optional
	Action Action `json:"action,omitempty"`

	// dryRunReason says why action is Scan although spec has another action. Absent when action is that of spec.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	DryRunReason string `json:"dryRunReason,omitempty"`

	// nextScheduleTime is when the Cleaner runs next. Absent when it is suspended or not ready.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// lastRunTime is when the last run started.
	// +optional
	LastRunTime *metav1.Time `json:"lastRunTime,omitempty"`

	// failureMessage says why the Cleaner does not run, as the condition Ready does, or else why its last run failed.
	// Absent when there is nothing wrong.
	// +optional
	FailureMessage *string `json:"failureMessage,omitempty"`

	// lastHandledRunRequest is the last value of the annotation apps.projectsveltos.io/run-requested-at that was answered
	// with a run, or with a reason why there is none. It is cut to 256 bytes.
	// +optional
	LastHandledRunRequest string `json:"lastHandledRunRequest,omitempty"`

	// activeRun is the run that waits or is active. Absent when there is none.
	// +optional
	ActiveRun *ActiveRun `json:"activeRun,omitempty"`

	// plan is the plan that waits for the approval of a person. Absent when there is none.
	// +optional
	Plan *WaitingPlan `json:"plan,omitempty"`

	// exhaustedRuns is the number of consecutive runs, up to the last one, in which the scripts used up their time or
	// memory. When it reaches 3, the schedule stops until the spec changes, or until a run that somebody asked for
	// succeeds.
	// +optional
	ExhaustedRuns int32 `json:"exhaustedRuns,omitempty"`

	// lastRun is the outcome of the last run. Its full text is in the CleanerRun of the same name.
	// +optional
	LastRun *LastRun `json:"lastRun,omitempty"`
}

// maxRunRequest bounds what is kept of a request, in bytes.
const maxRunRequest = 256

// RunRequest is the value of the annotation that asks for a run now, cut to what is kept of it. Empty when nobody asks.
func (c *Cleaner) RunRequest() string {
	return CutRunRequest(c.Annotations[RunRequestedAtAnnotation])
}

// IsRunRequested reports whether somebody asked for a run, and none has answered yet.
func (c *Cleaner) IsRunRequested() bool {
	requested := c.RunRequest()
	return requested != "" && requested != CutRunRequest(c.Status.LastHandledRunRequest)
}

// Cancels reports whether somebody cancelled the run of the name.
func (c *Cleaner) Cancels(run string) bool {
	return run != "" && c.Annotations[CancelRunAnnotation] == run
}

// CutRunRequest is what is kept of a request: of a long one its beginning, and a hash that no other one has.
func CutRunRequest(request string) string {
	if len(request) <= maxRunRequest {
		return request
	}
	sum := sha256.Sum256([]byte(request))
	return Truncate(request, maxRunRequest-17) + "-" + hex.EncodeToString(sum[:8])
}

// RunTrigger is what started a run.
// +kubebuilder:validation:Enum=Schedule;Manual;Approval
type RunTrigger string

const (
	// TriggerSchedule is the Cleaner's schedule.
	TriggerSchedule RunTrigger = "Schedule"
	// TriggerManual is the annotation apps.projectsveltos.io/run-requested-at.
	TriggerManual RunTrigger = "Manual"
	// TriggerApproval is a CleanerApproval.
	TriggerApproval RunTrigger = "Approval"
)

// ActiveRun is a run that is waiting or active.
type ActiveRun struct {
	// name is the CleanerRun's name.
	// +required
	Name string `json:"name"`

	// nominalTime is when the run was due: the scheduled time or, for a run that somebody asked for, when the operator
	// accepted the request.
	// +required
	NominalTime metav1.Time `json:"nominalTime"`

	// trigger is what started the run: Schedule, Manual or Approval.
	// +required
	Trigger RunTrigger `json:"trigger"`

	// runRequest is the request that the run answers, as in lastHandledRunRequest. Absent in a run of the schedule.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	RunRequest string `json:"runRequest,omitempty"`

	// plan is the approved plan that the run carries out. Absent when it carries out none.
	// +optional
	Plan *ApprovedPlan `json:"plan,omitempty"`

	// whileSuspended is true for a run that was asked for although the Cleaner was suspended: being suspended does not
	// stop it.
	// +optional
	WhileSuspended bool `json:"whileSuspended,omitempty"`

	// serviceAccountRef is the ServiceAccount that the Cleaner named when the run was queued: the run ends before it
	// begins if the Cleaner names another one by then. Unset means the operator's own rights.
	// +optional
	ServiceAccountRef *ServiceAccountRef `json:"serviceAccountRef,omitempty"`
}

// DryRunByFlag is the dryRunReason of an operator that runs with --dry-run.
const DryRunByFlag = "the operator runs with --dry-run"

// StopWords are what a dryRunReason begins with while all acting is stopped (kubectl cleaner stop).
const StopWords = "all acting is stopped"

// LastRun sums up a run for status.
type LastRun struct {
	// name is the CleanerRun's name.
	// +required
	Name string `json:"name"`

	// nominalTime is when the run was due.
	// +required
	NominalTime metav1.Time `json:"nominalTime"`

	// trigger is what started the run: Schedule, Manual or Approval.
	// +required
	Trigger RunTrigger `json:"trigger"`

	// runRequest is the request that the run answered, as in lastHandledRunRequest. Absent in a run of the schedule.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	RunRequest string `json:"runRequest,omitempty"`

	// action is what the run did: Delete, Transform or Scan.
	// +required
	Action Action `json:"action"`

	// dryRun is true when the Cleaner's action is Delete or Transform, but the run only reported: because of the
	// operator's --dry-run, because all acting was stopped (kubectl cleaner stop), or because of spec.scanUntil.
	// +optional
	DryRun bool `json:"dryRun,omitempty"`

	// dryRunReason says why. Absent when dryRun is false.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	DryRunReason string `json:"dryRunReason,omitempty"`

	// duration is how long the run took, for example "1.2s".
	// +optional
	Duration *metav1.Duration `json:"duration,omitempty"`

	RunCounts `json:",inline"`

	// matches are the first 50 objects that matched, at most 16 KiB of them, each with the script's message.
	// +optional
	// +listType=atomic
	Matches []ObjectOutcome `json:"matches,omitempty"`
}
