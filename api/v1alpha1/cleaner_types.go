// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Action is what a Cleaner does with the objects that match.
// +kubebuilder:validation:Enum=Delete;Transform;Scan
type Action string

const (
	// ActionDelete deletes every matching object.
	ActionDelete Action = "Delete"
	// ActionTransform changes every matching object, with the script in spec.transform or the patch in spec.mergePatch.
	ActionTransform Action = "Transform"
	// ActionScan only reports the matching objects.
	ActionScan Action = "Scan"
)

// PodDeletion is how Pods are deleted.
// +kubebuilder:validation:Enum=Delete;Evict
type PodDeletion string

const (
	// PodDeletionDelete deletes Pods like other objects.
	PodDeletionDelete PodDeletion = "Delete"
	// PodDeletionEvict asks the API server to evict Pods, which it refuses as long as a PodDisruptionBudget does not allow
	// it.
	PodDeletionEvict PodDeletion = "Evict"
)

// DeleteOptions are passed on with each delete.
type DeleteOptions struct {
	// gracePeriodSeconds is how long an object may take to terminate, in seconds. 0 ends it at once; unset means the
	// default of the kind (30 for a Pod).
	// +optional
	// +kubebuilder:validation:Minimum=0
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`

	// propagationPolicy says what happens to the objects that the deleted one owns: Orphan keeps them, Background deletes
	// them afterwards, Foreground before. Unset leaves it to the kind.
	// +optional
	// +kubebuilder:validation:Enum=Orphan;Background;Foreground
	PropagationPolicy *metav1.DeletionPropagation `json:"propagationPolicy,omitempty"`

	// podDeletion is how Pods are deleted: Delete, or Evict. With Evict, a Pod stays as long as a PodDisruptionBudget does
	// not allow its eviction, and is reported as Denied. Objects of other kinds are deleted with either value. Evict needs
	// the right to create pods/eviction. Default Delete.
	// +optional
	PodDeletion PodDeletion `json:"podDeletion,omitempty"`
}

// TransformConsent is something that a Transform may change only if the Cleaner allows it, because of the
// consequences.
// +kubebuilder:validation:Enum=OwnerReferences;Finalizers;RBAC
type TransformConsent string

const (
	// ConsentOwnerReferences lets a Transform change metadata.ownerReferences: the garbage collector deletes by them.
	ConsentOwnerReferences TransformConsent = "OwnerReferences"
	// ConsentFinalizers lets a Transform change metadata.finalizers: without a finalizer, the cleanup for which it waits
	// is not done.
	ConsentFinalizers TransformConsent = "Finalizers"
	// ConsentRBAC lets a Transform change Roles, ClusterRoles and their bindings.
	ConsentRBAC TransformConsent = "RBAC"
)

// TransformOptions allow a Transform to change owner references, finalizers or RBAC objects, which it may not change by
// default.
type TransformOptions struct {
	// allow lists what a Transform may change only if it is in this list: OwnerReferences, Finalizers, and RBAC (Roles,
	// ClusterRoles and their bindings). An object that would be changed in a way that is not allowed is left alone.
	// Default none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=3
	Allow []TransformConsent `json:"allow,omitempty"`
}

// BlastRadiusLimit stops a Delete or Transform run that would touch too much. It stops if either limit is exceeded.
// +kubebuilder:validation:XValidation:rule="has(self.maxCount) || has(self.maxPercentage)",message="set maxCount, maxPercentage or both; without a limit, leave blastRadiusLimit out"
type BlastRadiusLimit struct {
	// maxCount is the largest number of objects that one run may touch, for example 50. 0 lets it touch none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxCount *int32 `json:"maxCount,omitempty"`

	// maxPercentage is the largest percentage of objects that one run may touch, for example 10. It is a percentage of all
	// objects of the same kinds in the selected namespaces, counted before labelFilters and scripts.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MaxPercentage *int32 `json:"maxPercentage,omitempty"`
}

// PartialViewPolicy says what a run does when objects cannot be judged.
// +kubebuilder:validation:Enum=Stop;Skip
type PartialViewPolicy string

const (
	// PartialViewStop means that the run touches nothing.
	PartialViewStop PartialViewPolicy = "Stop"
	// PartialViewSkip leaves these objects alone and lets the run continue with the others.
	PartialViewSkip PartialViewPolicy = "Skip"
)

// CleanerSpec is what the user wants cleaned, when, and how.
// +kubebuilder:validation:XValidation:rule="!has(self.action) || !has(self.resourcePolicySet.action) || self.action == self.resourcePolicySet.action",message="action and resourcePolicySet.action differ; remove resourcePolicySet.action, which is deprecated"
// +kubebuilder:validation:XValidation:rule="!((has(self.action) && self.action == 'Transform') || (!has(self.action) && has(self.resourcePolicySet.action) && self.resourcePolicySet.action == 'Transform')) || (has(self.transform) && size(self.transform) > 0) || has(self.mergePatch)",message="action Transform needs a script in transform, or a mergePatch"
// +kubebuilder:validation:XValidation:rule="!has(self.mergePatch) || !has(self.transform) || size(self.transform) == 0",message="transform and mergePatch are both set; remove one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.timeZone) || !(self.schedule.startsWith('TZ=') || self.schedule.startsWith('CRON_TZ=')) || self.schedule.startsWith('TZ=' + self.timeZone + ' ') || self.schedule.startsWith('CRON_TZ=' + self.timeZone + ' ')",message="timeZone and the time zone in schedule differ; remove the TZ= prefix from schedule"
// +kubebuilder:validation:XValidation:rule="!has(self.deleteOptions) || !has(self.deleteOptions.podDeletion) || self.deleteOptions.podDeletion != 'Evict' || self.resourcePolicySet.resourceSelectors.exists(s, s.kind == 'Pod' && (!has(s.group) || size(s.group) == 0))",message="deleteOptions.podDeletion Evict concerns Pods only, and no resourceSelectors select them: write kind Pod, or leave podDeletion out"
// +kubebuilder:validation:XValidation:rule="!has(self.onPartialView) || self.onPartialView != 'Skip' || !has(self.resourcePolicySet.aggregatedSelection) || size(self.resourcePolicySet.aggregatedSelection) == 0",message="onPartialView Skip and resourcePolicySet.aggregatedSelection are both set: that script judges all objects together, and must not miss one; leave onPartialView out"
// +kubebuilder:validation:XValidation:rule="(has(self.action) ? self.action : has(self.resourcePolicySet.action) ? self.resourcePolicySet.action : 'Scan') != 'Delete' || has(self.blastRadiusLimit) || !self.resourcePolicySet.resourceSelectors.exists(s, has(s.finding))",message="action Delete by a finding needs a blastRadiusLimit; add it, for example {maxCount: 50}"
type CleanerSpec struct {
	// schedule says when the Cleaner runs, in cron syntax: five fields (minute, hour, day of month, month, day of week) or
	// six (seconds first), for example "0 3 * * *" for 3 AM every day; @hourly, @daily, @weekly, @monthly and @yearly; or
	// "@every 1h30m". Without timeZone it is in UTC. status.schedule says it in words.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Schedule string `json:"schedule"`

	// timeZone is the time zone of schedule, as in the IANA database, for example "Europe/Rome". Unset means UTC, or the
	// one in a TZ= prefix of schedule.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	TimeZone *string `json:"timeZone,omitempty"`

	// suspend stops the schedule. It also stops an active run before its next object. You can still ask for a run with the
	// annotation apps.projectsveltos.io/run-requested-at. Default false.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// startingDeadlineSeconds is how late a run may start, in seconds, for example 600. A run that could not start in this
	// time after its scheduled time is missed. Less than 10 counts as 10, because a run always starts a little late. Unset
	// means that the latest missed run always starts, however late.
	// +optional
	// +kubebuilder:validation:Minimum=0
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`

	// activeDeadlineSeconds is how long a run may take in total, in seconds, for example 600, even if another operator
	// resumes it. When that time has passed, the run ends before its next object: RunSucceeded says DeadlineExceeded, and
	// how far the run came. Unset means 3600, which is also the maximum.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// successfulRunsHistoryLimit is how many successful CleanerRuns are kept. Default 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	SuccessfulRunsHistoryLimit *int32 `json:"successfulRunsHistoryLimit,omitempty"`

	// failedRunsHistoryLimit is how many failed CleanerRuns are kept. Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	FailedRunsHistoryLimit *int32 `json:"failedRunsHistoryLimit,omitempty"`

	// resourcePolicySet says which objects the Cleaner looks at.
	// +required
	ResourcePolicySet ResourcePolicySet `json:"resourcePolicySet"`

	// action is what the Cleaner does with the objects that match: Delete, Transform or Scan (only report). Unset means
	// resourcePolicySet.action or, if that is unset too, Scan. A change to Scan stops an active run before its next
	// object. Any other change takes effect in the next run.
	// +optional
	Action *Action `json:"action,omitempty"`

	// scanUntil is the time until which runs only report, although action is Delete or Transform, for example
	// 2026-12-01T00:00:00Z. A report says what the run would have done, and when runs begin to act. A run acts if it was
	// due at that time or later. If the time is in the future, an active run stops before its next object. Unset means
	// that runs act at once.
	// +optional
	ScanUntil *metav1.Time `json:"scanUntil,omitempty"`

	// approval says whether a person must approve what a run is going to do, when action is Delete or Transform. Unset
	// means that runs act at once. If it is set, even to {}, a person must approve, unless its mode is None.
	// +optional
	Approval *Approval `json:"approval,omitempty"`

	// deleteOptions are passed on with each delete.
	// +optional
	DeleteOptions *DeleteOptions `json:"deleteOptions,omitempty"`

	// transform is a Lua script with a function transform(), which changes the object in the global obj and returns a
	// table with resource: the changed object. Only what it changed is sent. It is used when action is Transform.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	Transform string `json:"transform,omitempty"`

	// mergePatch is a JSON merge patch (RFC 7386) that is applied to every matching object, instead of a script in
	// transform, for example {spec: {replicas: 0}}. Only what it changes is sent. null removes a field; kubectl apply
	// drops nulls, unless with --server-side. It is used when action is Transform.
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	MergePatch *runtime.RawExtension `json:"mergePatch,omitempty"`

	// transformOptions allow a Transform to change owner references, finalizers or RBAC objects, which it may not
	// change by default.
	// +optional
	TransformOptions *TransformOptions `json:"transformOptions,omitempty"`

	// occurrenceThreshold is the number of consecutive runs in which an object must match before it is acted on or
	// reported. Default 1. After an edit of resourcePolicySet, except of its action, the count starts again.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	OccurrenceThreshold *int32 `json:"occurrenceThreshold,omitempty"`

	// onPartialView says what a run does when an object cannot be judged, because a condition or script fails on it or its
	// logs cannot be read. Stop: the run touches nothing. Skip: such an object is left alone as NotEvaluated, and the run
	// continues with the others, unless more than 10 objects, and more than 1 % of those that one selector considered,
	// could not be judged. With both, a list that cannot be read or a missing right stops the run. You cannot combine Skip
	// with aggregatedSelection. Default Stop.
	// +optional
	OnPartialView PartialViewPolicy `json:"onPartialView,omitempty"`

	// blastRadiusLimit stops a Delete or Transform run, before it touches anything, when too many objects match. Unset
	// means no limit.
	// +optional
	BlastRadiusLimit *BlastRadiusLimit `json:"blastRadiusLimit,omitempty"`

	// notifications are the channels to which the result of each run is sent. The result is always in status, too.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Notifications []Notification `json:"notifications,omitempty"`

	// rollback says where to keep copies of the objects that a Delete or Transform touches, so that you can restore them.
	// Unset means the defaults of its fields: copies in Secrets, for seven days.
	// +optional
	Rollback *Rollback `json:"rollback,omitempty"`

	// serviceAccountRef is the ServiceAccount that the Cleaner reads and acts as. A run reads and changes the objects of
	// the cluster only with the rights of that account. Unset means the operator's own rights. If the operator runs with
	// --require-service-account, a Cleaner without it does not run.
	// +optional
	ServiceAccountRef *ServiceAccountRef `json:"serviceAccountRef,omitempty"`

	// storeResourcePath is a directory of the operator. A Delete or Transform writes each object there as it was before,
	// one YAML file for each object and run, in addition to the copies of rollback. Secrets are left out. The directory
	// must be the operator's --copies-path or below it, for example "/copies/audit". The operator never removes these
	// files.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	StoreResourcePath string `json:"storeResourcePath,omitempty"`
}

// Cleaner finds resources on a schedule and deletes them, changes them or only reports them.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=cleaners,scope=Cluster,shortName=cln,categories=kubecleaner
// +kubebuilder:metadata:annotations="argocd.argoproj.io/sync-options=Prune=false,Delete=false"
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/prune=disabled"
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`
// +kubebuilder:printcolumn:name="Action",type=string,JSONPath=`.status.action`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Result",type=string,JSONPath=`.status.conditions[?(@.type=="RunSucceeded")].reason`
// +kubebuilder:printcolumn:name="Matched",type=integer,JSONPath=`.status.lastRun.matched`
// +kubebuilder:printcolumn:name="Acted",type=integer,JSONPath=`.status.lastRun.acted`
// +kubebuilder:printcolumn:name="Last Run",type=date,JSONPath=`.status.lastRunTime`
// +kubebuilder:printcolumn:name="Next Run",type=string,JSONPath=`.status.nextScheduleTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Scan Until",type=string,priority=1,JSONPath=`.spec.scanUntil`
type Cleaner struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the user wants cleaned, when, and how.
	// +required
	Spec CleanerSpec `json:"spec"`

	// status is what the operator last saw and did.
	// +optional
	Status CleanerStatus `json:"status,omitempty"`
}

// CleanerList is a list of Cleaners.
// +kubebuilder:object:root=true
type CleanerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the Cleaners.
	Items []Cleaner `json:"items"`
}

// EffectiveAction is what a run of this Cleaner does: spec.action, then resourcePolicySet.action, then Scan.
func (c *Cleaner) EffectiveAction() Action {
	switch {
	case c.Spec.Action != nil:
		return *c.Spec.Action
	case c.Spec.ResourcePolicySet.Action != nil:
		return *c.Spec.ResourcePolicySet.Action
	default:
		return ActionScan
	}
}

// Observing says why a run that is due at this time only reports, although its action is another: spec.scanUntil. Empty
// if it acts.
func (c *Cleaner) Observing(at time.Time) string {
	until := c.Spec.ScanUntil
	if until == nil || !at.Before(until.Time) || c.EffectiveAction() == ActionScan {
		return ""
	}
	return fmt.Sprintf(
		"it only reports until %s, and acts from then on (spec.scanUntil)",
		until.UTC().Format(time.RFC3339),
	)
}

// minStartingDeadline is the shortest time in which a run may start: each starts some time after it is due.
const minStartingDeadline = 10 * time.Second

// StartingDeadline is how late a run may start; nil for however late. More than a Duration holds is as much as it
// holds.
func (c *Cleaner) StartingDeadline() *time.Duration {
	if c.Spec.StartingDeadlineSeconds == nil {
		return nil
	}
	seconds := min(*c.Spec.StartingDeadlineSeconds, int64(math.MaxInt64/time.Second))
	deadline := max(minStartingDeadline, time.Duration(seconds)*time.Second)
	return &deadline
}

// IsSuspended reports whether the schedule is stopped.
func (c *Cleaner) IsSuspended() bool { return c.Spec.Suspend != nil && *c.Spec.Suspend }
