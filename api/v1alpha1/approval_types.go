// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// ApprovalMode says whether a person must approve what a run is going to do.
// +kubebuilder:validation:Enum=None;Required
type ApprovalMode string

const (
	// ApprovalNone lets runs act at once.
	ApprovalNone ApprovalMode = "None"
	// ApprovalRequired lets runs only plan. A plan that a person approves is carried out by a separate run.
	ApprovalRequired ApprovalMode = "Required"
)

// Approval says whether and for how long a plan waits for a person.
type Approval struct {
	// mode is Required when a person must approve what a run is going to do: the run then touches nothing and leaves a
	// plan, and a second run carries out the plan when it is approved. None lets runs act at once. Default Required.
	// +optional
	Mode ApprovalMode `json:"mode,omitempty"`

	// expiresAfterSeconds is how long a plan may be approved, in seconds. Default 259200, which is three days.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=2592000
	ExpiresAfterSeconds *int64 `json:"expiresAfterSeconds,omitempty"`
}

// planLasts is how long a plan may be approved unless the Cleaner says otherwise, in seconds.
const planLasts = 3 * 24 * 60 * 60

// Lasts is how long a plan may be approved.
func (a *Approval) Lasts() time.Duration {
	return time.Duration(cmp.Or(ptr.Deref(a.ExpiresAfterSeconds, 0), planLasts)) * time.Second
}

// NeedsApproval reports whether a run may act only on a plan that was approved. An unset mode means Required: whoever
// writes spec.approval wants to be asked.
func (c *Cleaner) NeedsApproval() bool {
	return c.Spec.Approval != nil && c.Spec.Approval.Mode != ApprovalNone && c.EffectiveAction() != ActionScan
}

// HasPlanOf reports whether the plan of a run waits for approval, or is being carried out.
func (c *Cleaner) HasPlanOf(run string) bool {
	waiting, active := c.Status.Plan, c.Status.ActiveRun
	return waiting != nil && waiting.Run == run || active != nil && active.Plan != nil && active.Plan.Run == run
}

// PlanRef names a plan.
type PlanRef struct {
	// run is the name of the CleanerRun that made the plan.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Run string `json:"run"`

	// hash is a hash of the plan: of the action, and of the kind, name, UID and change of each object.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Hash string `json:"hash"`
}

// WaitingPlan is a plan that waits for a person.
type WaitingPlan struct {
	PlanRef `json:",inline"`

	// objects is how many objects it would touch.
	// +required
	Objects int64 `json:"objects"`

	// expirationTime is the time until which the plan can be approved.
	// +required
	ExpirationTime metav1.Time `json:"expirationTime"`
}

// Waits says that a newer run planned the same.
func (p *WaitingPlan) Waits() string {
	return fmt.Sprintf("The same plan waits already, until %s, for a person who approves it: kubectl cleaner approve %s.",
		p.ExpirationTime.UTC().Format(time.RFC3339), p.Run)
}

// ApprovedPlan is a plan that somebody approved.
type ApprovedPlan struct {
	PlanRef `json:",inline"`

	// by is the user who approved it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	By string `json:"by,omitempty"`
}

// RunPlan is what a run would have done if a person had already approved it. The objects whose outcome is Planned are
// in it.
type RunPlan struct {
	// hash is a hash of the plan: of the action, and of the kind, name, UID and change of each object.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Hash string `json:"hash"`

	// objects is how many objects it would touch.
	// +required
	Objects int64 `json:"objects"`

	// volumeBytes is the capacity of the PersistentVolumeClaims and PersistentVolumes that it would delete, as freedBytes
	// counts it.
	// +optional
	VolumeBytes int64 `json:"volumeBytes,omitempty"`

	// expirationTime is the time until which the plan can be approved.
	// +required
	ExpirationTime metav1.Time `json:"expirationTime"`

	// carriedOutBy is the name of the CleanerRun that carries out the plan, or has carried it out. Absent when there is
	// none.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CarriedOutBy string `json:"carriedOutBy,omitempty"`
}

// ApprovalDecision is the decision of a person about a plan.
// +kubebuilder:validation:Enum=Approve;Reject
type ApprovalDecision string

const (
	// DecisionApprove lets a run carry out the plan.
	DecisionApprove ApprovalDecision = "Approve"
	// DecisionReject ends the plan.
	DecisionReject ApprovalDecision = "Reject"
)

// CleanerApprovalSpec is the decision of a person about a plan. It is written once.
// +kubebuilder:validation:XValidation:rule="size(self.cleaner) > 52 || self.cleaner.matches('-[0-9a-f]{16}$') ? self.run.startsWith(self.cleaner.substring(0, size(self.cleaner) < 20 ? size(self.cleaner) : 20)) : self.run.startsWith(self.cleaner + '-') && self.run.substring(size(self.cleaner)).matches('^-[0-9]+$')",message="spec.run is no CleanerRun of spec.cleaner: their names are that of the Cleaner, and a number"
type CleanerApprovalSpec struct {
	// cleaner is the name of the Cleaner. Whoever creates a CleanerApproval needs the verb approve on it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Cleaner string `json:"cleaner"`

	// run is the name of the CleanerRun that made the plan, and of the CleanerApproval.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Run string `json:"run"`

	// planHash is status.plan.hash of that CleanerRun: only the plan that the person has seen is carried out.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	PlanHash string `json:"planHash"`

	// by is the user who creates the CleanerApproval, as kubectl auth whoami prints it. Any other name is refused.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	By string `json:"by"`

	// decision is Approve or Reject.
	// +required
	Decision ApprovalDecision `json:"decision"`

	// reason says why, in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`
}

// CleanerApproval says that a person approves or rejects a plan: what a run of a Cleaner with spec.approval was going
// to do. Its name is that of the CleanerRun. It cannot be changed.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=cleanerapprovals,scope=Cluster,shortName=cla,categories=kubecleaner
// +kubebuilder:metadata:annotations="argocd.argoproj.io/sync-options=Prune=false,Delete=false"
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/prune=disabled"
// +kubebuilder:printcolumn:name="Cleaner",type=string,JSONPath=`.spec.cleaner`
// +kubebuilder:printcolumn:name="Decision",type=string,JSONPath=`.spec.decision`
// +kubebuilder:printcolumn:name="By",type=string,JSONPath=`.spec.by`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.spec.reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name == self.spec.run",message="metadata.name and spec.run differ: a CleanerApproval has the name of the CleanerRun whose plan it is about"
type CleanerApproval struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the person says.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a CleanerApproval cannot be changed; if nothing has come of it yet, delete it and create another"
	Spec CleanerApprovalSpec `json:"spec"`
}

// CleanerApprovalList is a list of CleanerApprovals.
// +kubebuilder:object:root=true
type CleanerApprovalList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the CleanerApprovals.
	Items []CleanerApproval `json:"items"`
}
