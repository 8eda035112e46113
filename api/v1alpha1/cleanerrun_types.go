// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// RunPhase is how far a run has come. Phases move forward only. A run that reads and judges, and has touched nothing,
// has none.
// +kubebuilder:validation:Enum=Executing;AwaitingApproval;Completed;Failed;Interrupted
type RunPhase string

const (
	// RunExecuting is a run that deletes or changes objects.
	RunExecuting RunPhase = "Executing"
	// RunAwaitingApproval is a run that touched nothing and has ended, and whose plan waits for a person. When that is
	// over, the phase is Completed.
	RunAwaitingApproval RunPhase = "AwaitingApproval"
	// RunCompleted is a run that did all it was asked to do.
	RunCompleted RunPhase = "Completed"
	// RunFailed is a run that did not do all it was asked to do; reason says why.
	RunFailed RunPhase = "Failed"
	// RunInterrupted is a run that was stopped between two objects, or whose operator stopped.
	RunInterrupted RunPhase = "Interrupted"
)

// Final reports whether a run in this phase has ended. Only its plan may still be waiting for a person.
func (p RunPhase) Final() bool {
	return p == RunCompleted || p == RunFailed || p == RunInterrupted || p == RunAwaitingApproval
}

// Good reports whether a run in this phase did all that it was asked to do. What waits for a person is no failure.
func (p RunPhase) Good() bool { return p == RunCompleted || p == RunAwaitingApproval }

// CleanerRunSpec says which run this is. It is written once.
type CleanerRunSpec struct {
	// cleaner is the name of the Cleaner.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Cleaner string `json:"cleaner"`

	// cleanerUID is the UID of the Cleaner.
	// +required
	CleanerUID types.UID `json:"cleanerUID"`

	// cleanerGeneration is the generation of the Cleaner that the run carries out.
	// +required
	CleanerGeneration int64 `json:"cleanerGeneration"`

	// cleanerSpecHash is a hash of the Cleaner's spec as the run read it. If the same generation has another hash, fields
	// got lost without an edit, because the CustomResourceDefinition of Cleaners was not the operator's for a while.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	CleanerSpecHash string `json:"cleanerSpecHash,omitempty"`

	// nominalTime is when the run was due: the scheduled time or, for a run that somebody asked for, when the operator
	// accepted the request.
	// +required
	NominalTime metav1.Time `json:"nominalTime"`

	// trigger is what started the run: Schedule, Manual or Approval.
	// +required
	Trigger RunTrigger `json:"trigger"`

	// plan is the approved plan that the run carries out. It touches nothing else. Absent when it carries out none.
	// +optional
	Plan *ApprovedPlan `json:"plan,omitempty"`

	// runRequest is the request that the run answers: the value of the Cleaner's annotation
	// apps.projectsveltos.io/run-requested-at, cut to 256 bytes. Absent in a run of the schedule.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	RunRequest string `json:"runRequest,omitempty"`

	// action is what the run does: Delete, Transform or Scan.
	// +required
	Action Action `json:"action"`

	// dryRun is true when the Cleaner's action is Delete or Transform, but the run only reported: because of the
	// operator's --dry-run, because all acting was stopped (kubectl cleaner stop), or because of spec.scanUntil.
	// +optional
	DryRun bool `json:"dryRun,omitempty"`

	// dryRunReason says why, for example "the operator runs with --dry-run". Absent when dryRun is false.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	DryRunReason string `json:"dryRunReason,omitempty"`

	// serviceAccountRef is the ServiceAccount that the run reads and acts as. Unset means the operator's own rights.
	// +optional
	ServiceAccountRef *ServiceAccountRef `json:"serviceAccountRef,omitempty"`
}

// WhyDryRun says why the run was made a Scan, if it was. A record of an earlier version does not say; then there was
// one cause only.
func (s *CleanerRunSpec) WhyDryRun() string { return cmp.Or(s.DryRunReason, DryRunByFlag) }

// CleanerRunStatus is how a run went.
type CleanerRunStatus struct {
	// conditions exist only when the run has ended. Completed is then True, even if the run failed. Acted is True if acted
	// is more than 0, and Unknown if it is not known whether the run acted.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// phase is how far the run has come: empty while it reads and judges, Executing while it deletes or changes objects,
	// and at the end Completed, Failed, Interrupted or, while its plan waits for a person, AwaitingApproval.
	// +optional
	Phase RunPhase `json:"phase,omitempty"`

	// reason is why the run ended as it did, in one word: a reason of the Cleaner's condition RunSucceeded, for example
	// Completed or ViewIncomplete.
	// +optional
	Reason string `json:"reason,omitempty"`

	// message is the same in a sentence.
	// +optional
	Message string `json:"message,omitempty"`

	// startTime is when the run started.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// judgedTime is when the run had read and judged everything. A run that deletes or changes objects has
	// by then also recorded what it is going to touch, with copies. It begins to act at that time. Absent while the run
	// reads and judges, and if the run ended before it had judged everything.
	// +optional
	JudgedTime *metav1.Time `json:"judgedTime,omitempty"`

	// completionTime is when the run ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// duration is how long the run took, for example "1.2s".
	// +optional
	Duration *metav1.Duration `json:"duration,omitempty"`

	// progress is how far the run has come, if it has been active for more than five seconds. It is written every five
	// seconds. It is removed when the run has ended.
	// +optional
	Progress *RunProgress `json:"progress,omitempty"`

	RunCounts `json:",inline"`

	// exhausted is true when a script used up its time or memory.
	// +optional
	Exhausted bool `json:"exhausted,omitempty"`

	// intent says where the list of objects that the run was going to touch is stored. Absent when the run touched
	// nothing.
	// +optional
	Intent *RunIntent `json:"intent,omitempty"`

	// plan is what the run would have done if a person had already approved it (spec.approval of the Cleaner): the objects
	// whose outcome is Planned are in it. Absent when the run planned nothing.
	// +optional
	Plan *RunPlan `json:"plan,omitempty"`

	// copies are the copies of objects that the run made before it touched them. kubectl cleaner restore uses them. Absent
	// when the run made none.
	// +optional
	Copies *RunCopies `json:"copies,omitempty"`

	// recoveries is how often another operator resumed the run, because the previous operator was gone.
	// +optional
	Recoveries int32 `json:"recoveries,omitempty"`

	// attempts is how often the run was started or resumed since it last made progress: since it began to act, or since
	// more objects got an outcome. Absent means one attempt. After three attempts without progress, the run ends as
	// Failed, because this run may be what makes the operator crash.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`

	// settled is how many objects had an outcome when the operator last checked whether the run makes progress.
	// +optional
	Settled int64 `json:"settled,omitempty"`

	// objects are what became of the objects that matched or could not be judged, with the full messages; as many as
	// fit into 256 KiB. If they do not all fit, failures come first, and then those whose outcome is the rarest. While
	// the run acts, they are those that it leaves alone, as many as fit into 32 KiB.
	// +optional
	// +listType=atomic
	Objects []ObjectOutcome `json:"objects,omitempty"`

	// objectsOmitted is how many objects are not listed in objects.
	// +optional
	ObjectsOmitted int64 `json:"objectsOmitted,omitempty"`

	// otherObjects says where the run stored the objects that do not fit into the field objects. Only a run that
	// touched nothing has it, such as a Scan. They take at most 8 MiB, and are kept for the two latest such runs of a
	// Cleaner, or for a shorter time if the objects of all Cleaners take too much space. Absent when there are none, or
	// when they could not be stored.
	// +optional
	OtherObjects *RunParts `json:"otherObjects,omitempty"`

	// tallies count the objects by kind, namespace and outcome, the largest count first, in at most 200 lines. Absent when
	// objects lists all of them. Objects that the run has not touched yet are counted by kind, as Planned.
	// +optional
	// +listType=atomic
	Tallies []ObjectTally `json:"tallies,omitempty"`

	// notifications are the notifications that the run has to send, by their names in the Cleaner, and the state of their
	// delivery. Pending ones are tried again for a day, also by another operator.
	// +optional
	// +listType=map
	// +listMapKey=name
	Notifications []NotificationStatus `json:"notifications,omitempty"`
}

// CleanerRun is the record of one run of a Cleaner. Its name consists of the Cleaner's name and the nominal time, so
// that each run happens only once. Only the operator writes it.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=cleanerruns,scope=Cluster,shortName=clr,categories=kubecleaner
// +kubebuilder:metadata:annotations="argocd.argoproj.io/sync-options=Prune=false,Delete=false"
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/prune=disabled"
// +kubebuilder:selectablefield:JSONPath=`.spec.cleaner`
// +kubebuilder:selectablefield:JSONPath=`.spec.runRequest`
// +kubebuilder:selectablefield:JSONPath=`.status.phase`
// +kubebuilder:selectablefield:JSONPath=`.status.reason`
// +kubebuilder:printcolumn:name="Cleaner",type=string,JSONPath=`.spec.cleaner`
// +kubebuilder:printcolumn:name="Action",type=string,JSONPath=`.spec.action`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.reason`
// +kubebuilder:printcolumn:name="Considered",type=integer,JSONPath=`.status.considered`
// +kubebuilder:printcolumn:name="Matched",type=integer,JSONPath=`.status.matched`
// +kubebuilder:printcolumn:name="Acted",type=integer,JSONPath=`.status.acted`
// +kubebuilder:printcolumn:name="Skipped",type=integer,JSONPath=`.status.skipped`
// +kubebuilder:printcolumn:name="Failed",type=integer,JSONPath=`.status.failed`
// +kubebuilder:printcolumn:name="Copies",type=integer,JSONPath=`.status.copies.objects`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Progress",type=string,priority=1,JSONPath=`.status.progress.phase`
// +kubebuilder:printcolumn:name="Done",type=integer,priority=1,JSONPath=`.status.progress.done`
// +kubebuilder:printcolumn:name="Total",type=integer,priority=1,JSONPath=`.status.progress.total`
// +kubebuilder:printcolumn:name="Trigger",type=string,priority=1,JSONPath=`.spec.trigger`
// +kubebuilder:printcolumn:name="Duration",type=string,priority=1,JSONPath=`.status.duration`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.message`
type CleanerRun struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says which run this is.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a CleanerRun is a record; to run a Cleaner again, annotate the Cleaner with apps.projectsveltos.io/run-requested-at"
	Spec CleanerRunSpec `json:"spec"`

	// status is how the run went.
	// +optional
	Status CleanerRunStatus `json:"status,omitempty"`
}

// CleanerRunList is a list of CleanerRuns.
// +kubebuilder:object:root=true
type CleanerRunList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the CleanerRuns.
	Items []CleanerRun `json:"items"`
}

// maxRunNamePrefix leaves room for the nominal time in a name of at most 63 characters, which also fits a label's
// value.
const maxRunNamePrefix = 63 - len("-") - len("1700000000")

// RunName is the name of the CleanerRun of a Cleaner and a nominal time. A long Cleaner's name is shortened, with a
// hash in place of what is cut.
func RunName(cleaner string, nominal time.Time) string {
	return fmt.Sprintf("%s-%d", ShortName(cleaner, maxRunNamePrefix), nominal.Unix())
}

// RunTime is the nominal time that is in the name of a run. It is false when that is no such name.
func RunTime(run string) (time.Time, bool) {
	seconds, err := strconv.ParseInt(run[strings.LastIndex(run, "-")+1:], 10, 64)
	return time.Unix(seconds, 0), err == nil
}

// shortened is how a name ends that ShortName has cut.
var shortened = regexp.MustCompile(`-[0-9a-f]{16}$`)

// ShortName returns name, cut to at most max characters with a hash in place of what is cut. No two names have the same
// short one: what looks as if it had been cut gets a hash too, and the hash is too long to be met by trying.
func ShortName(name string, maxLength int) string {
	if len(name) <= maxLength && !shortened.MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	hash := "-" + hex.EncodeToString(sum[:8])
	return strings.TrimRight(name[:min(len(name), maxLength-len(hash))], ".-") + hash
}
