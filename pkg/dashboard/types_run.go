// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
)

// Manifest is a Cleaner as YAML (or JSON, which is YAML). The Cleaner's JSON itself is taken as well, as k8s-cleaner's
// page sends it.
type Manifest struct {
	YAML string `json:"yaml"`
}

// CleanerSaved is a Cleaner that was written, or would be (dryRun=true). Warnings are the API server's.
type CleanerSaved struct {
	Name            string   `json:"name"`
	ResourceVersion string   `json:"resourceVersion"`
	DryRun          bool     `json:"dryRun,omitempty"`
	Warnings        []string `json:"warnings,omitempty"`
}

// Cancel says which run to stop. Empty means the one that is going on.
type Cancel struct {
	Run string `json:"run,omitempty"`
}

// Accepted is a request that the operator answers later. Request is the value of the annotation.
type Accepted struct {
	Name    string `json:"name"`
	Request string `json:"request,omitempty"`
	Message string `json:"message"`
}

// TriggeredAll says of which Cleaners a run was asked for, and of which not.
type TriggeredAll struct {
	Triggered []string          `json:"triggered"`
	Failed    map[string]string `json:"failed,omitempty"`
}

// CommandResult is what a command of kubectl cleaner wrote, and whether it went well.
type CommandResult struct {
	OK     bool   `json:"ok"`
	Output string `json:"output"`
}

// RunRow is a run in a list.
type RunRow struct {
	Name    string              `json:"name"`
	Cleaner string              `json:"cleaner"`
	Time    time.Time           `json:"time"`
	Trigger v1alpha1.RunTrigger `json:"trigger"`
	Action  v1alpha1.Action     `json:"action"`
	DryRun  bool                `json:"dryRun,omitempty"`
	// Phase is Running while the run reads and judges, and else as in the record: Executing, Completed,
	// Failed, Interrupted.
	Phase           string  `json:"phase"`
	Reason          string  `json:"reason,omitempty"`
	Message         string  `json:"message,omitempty"`
	DurationSeconds float64 `json:"durationSeconds,omitempty"`
	v1alpha1.RunCounts
	// CarriedOutBy is the run that carries out the plan of this one, and matches the same objects again.
	CarriedOutBy string `json:"carriedOutBy,omitempty"`
	// Copies is how many objects can be brought back, until CopiesUntil.
	Copies      int64      `json:"copies,omitempty"`
	CopiesUntil *time.Time `json:"copiesUntil,omitempty"`
}

// found is how many objects the run found that no other run counts.
func (r *RunRow) found() int64 {
	if r.CarriedOutBy != "" {
		return 0
	}
	return r.Matched
}

// RunDetail is a run without its objects: those are runs/{name}/outcomes.
type RunDetail struct {
	RunRow
	Stages        []Stage                       `json:"stages"`
	Progress      *v1alpha1.RunProgress         `json:"progress,omitempty"`
	Conditions    []Condition                   `json:"conditions"`
	Outcomes      []OutcomeCount                `json:"outcomes"` // the most first
	Notifications []v1alpha1.NotificationStatus `json:"notifications"`
	// Plan is the run whose plan it carries out, and ApprovedBy who approved that. Empty when it carries out none.
	Plan       string `json:"plan,omitempty"`
	ApprovedBy string `json:"approvedBy,omitempty"`
	// Ending says of the objects that were still being deleted what they wait for. Empty when there are none.
	Ending string `json:"ending,omitempty"`
	// Before is the run of the same Cleaner before it, or before the plan that it carries out, and After the one after
	// it. Empty when there is none on record.
	Before  string  `json:"before,omitempty"`
	After   string  `json:"after,omitempty"`
	Restore Allowed `json:"restore"`
}

// Outcomes is one page of the objects of a run. Unread says why not all are listed.
type Outcomes struct {
	Page[v1alpha1.ObjectOutcome]
	Unread *Error `json:"unread,omitempty"`
}

// Stage is one step of a run. State is Done, Active, Failed, Pending or None.
type Stage struct {
	// Name is Waited in the queue, Read and judged, Recorded, Waited for a person, Acted or Notified. Of a run that
	// carries out a plan, Waited for a person comes first, and is of the plan.
	Name  string `json:"name"`
	State string `json:"state"`
	// Time is when it began, and TookSeconds how long it took. Absent where the record does not say it.
	Time        *time.Time `json:"time,omitempty"`
	TookSeconds *int64     `json:"tookSeconds,omitempty"`
	Text        string     `json:"text,omitempty"`
}

// OutcomeCount is how many objects had an outcome.
type OutcomeCount struct {
	Outcome v1alpha1.OutcomeResult `json:"outcome"`
	Count   int64                  `json:"count"`
}

// Diff compares a run with the one before. Unknown is how many objects, at least, cannot be compared, because a record
// does not list them all.
type Diff struct {
	Page[Change]
	Before  string `json:"before"`
	New     int    `json:"new"`
	Gone    int    `json:"gone"`
	Changed int    `json:"changed"`
	Same    int    `json:"same"`
	Unknown int64  `json:"unknown"`
}

// Change is an object that is new, gone or changed (its outcome is another).
type Change struct {
	Change string `json:"change"`
	v1alpha1.ObjectOutcome
	Was v1alpha1.OutcomeResult `json:"was,omitempty"`
}

// RestoreRequest says what to bring back. Only names objects as KIND.GROUP/NAMESPACE/NAME or KIND.GROUP/NAME; empty
// means all. KIND without a dot is of any group.
type RestoreRequest struct {
	Only  []string `json:"only,omitempty"`
	Force bool     `json:"force,omitempty"`
}

// RestorePlan is what kubectl cleaner restore -o json prints: outcome is Planned (dry run), Restored, RestoredAlready,
// Exists, ChangedSince, NotRestored, Failed or Interrupted.
type RestorePlan struct {
	Run     string           `json:"run"`
	Cleaner string           `json:"cleaner"`
	DryRun  bool             `json:"dryRun,omitempty"`
	Objects []RestoredObject `json:"objects"`
}

// RestoredObject is one object of a RestorePlan. Step is Create, Overwrite or PutBack.
type RestoredObject struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Namespace  string   `json:"namespace,omitempty"`
	Name       string   `json:"name"`
	Step       string   `json:"step,omitempty"`
	Outcome    string   `json:"outcome"`
	Reason     string   `json:"reason,omitempty"`
	Notes      []string `json:"notes,omitempty"`
	// Success and Message are in the answer to a rollback only, where k8s-cleaner has them.
	Success *bool  `json:"success,omitempty"`
	Message string `json:"message,omitempty"`
}

// CopyCompared says what a restore would make of an object, as YAML without the status.
type CopyCompared struct {
	// Restores is whether a restore would touch the object. Why says why not.
	Restores bool   `json:"restores,omitempty"`
	Why      string `json:"why,omitempty"`
	// Live is the object as it is now, empty when there is none. After is what the API server would make of a restore or,
	// when that would not touch the object, the copy.
	Live  string `json:"live,omitempty"`
	After string `json:"after"`
	// LeftOut are the fields of the copy that a restore leaves out, or that get another value: spec.volumeName, status.
	LeftOut []string `json:"leftOut,omitempty"`
}

// Findings is one page of a scan, with how many there are in each group.
type Findings struct {
	Page[search.Finding]
	Groups []FindingGroup `json:"groups"`
	// Unknown are those of which nobody can say, among Total too.
	Unknown int             `json:"unknown"`
	Unread  []search.Unread `json:"unread"`
	Objects int64           `json:"objects"`
	Kinds   int             `json:"kinds"`
	// Frees and NotCounted are of the whole scan, as in scan.Result.
	Frees      search.Frees   `json:"frees"`
	NotCounted map[string]int `json:"notCounted,omitempty"`
	// Scanned is when. Scope is the namespace, empty for the cluster.
	Scanned time.Time `json:"scanned"`
	Scope   string    `json:"scope,omitempty"`
}

// FindingGroup is how many findings have the key, of what the other filters let through.
type FindingGroup struct {
	Key   string       `json:"key"`
	Count int          `json:"count"`
	Frees search.Frees `json:"frees"`
}

// Preview asks for a preview: of a manifest that is not saved, or of a Cleaner of the cluster. Exactly one is given.
//
// The answer is a stream of events: "progress" (Progress, while it goes on), then "result" ({"cleaners": [...]}, as
// kubectl cleaner preview -o json: cleaner, action, considered, matched, wouldAct, leftAlone, failed, incomplete,
// limitExceeded, objects with outcome, reason, message, selector, patch; at most 1,000 objects, more says how many more
// there are) or "error" (Error). Closing the connection ends the preview.
type Preview struct {
	YAML string `json:"yaml,omitempty"`
	Name string `json:"name,omitempty"`
}

// Loss says of a kind, in sentences, which objects get no copy when they are deleted, and what is deleted with them.
type Loss struct {
	Warnings []string `json:"warnings"`
}

// Progress is how far a preview is.
type Progress struct {
	Text string `json:"text"`
}

// StreamEvent is the data of an event of GET events. The event's name is cleaners, runs or error. After an error, what
// Name says is not watched until the next event of that name: Error says why. A comment line comes every 15 seconds.
type StreamEvent struct {
	Type  string `json:"type"` // ADDED, MODIFIED, DELETED, or RESET: read everything again
	Name  string `json:"name,omitempty"`
	Error *Error `json:"error,omitempty"`
}

// LibraryRow is a recipe. Its id is what people see and what kubectl cleaner init takes.
type LibraryRow struct {
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Action      string   `json:"action"`
	Kinds       []string `json:"kinds"`
}

// LibraryItem is a recipe with its manifest.
type LibraryItem struct {
	LibraryRow
	YAML string `json:"yaml"`
}

// ReportRow is a Report in a list.
type ReportRow struct {
	Name      string          `json:"name"`
	Action    v1alpha1.Action `json:"action"`
	Resources int             `json:"resources"`
	Message   string          `json:"message,omitempty"`
}
