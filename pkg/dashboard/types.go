// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dashboard is the server of the page. It makes every read and every write as the person who looks: the server
// itself needs no rights. It keeps nothing but the result of a person's last scan, for that person, for a minute.
//
// Each answer is JSON; an error is Error, with the status that the API server gave (401: not logged in, 403: a right is
// missing, 404, 409, 422). A write needs Content-Type: application/json (also without a body) and must come from the
// page itself. Lists are paged with offset and limit (at most 500, 50 when absent) and are a Page. Times are RFC 3339.
//
//	POST   /login                                Login -> 204 and a cookie; 401. In the cluster only
//	POST   /logout                               -> 204
//	GET    /?token=T                             of kubectl cleaner dashboard: -> 303 to / and a cookie
//	GET    /healthz                              -> 200 "ok"; for probes
//
// Everything below starts with /api/v1:
//
//	GET    config                                Config; the only one that needs no login
//	GET    health                                {"status": "ok"}
//	GET    whoami                                WhoAmI
//	GET    access?namespace=                     Access: what the person may, and what is missing
//	GET    summary                               Summary: the overview
//	GET    cleaners?q=&action=&state=&sort=      Page of CleanerRow. state: Ready, NotReady, Suspended, Running, Failed.
//	                                             sort: name, next, last, matched, acted; a - before it turns it round
//	POST   cleaners?dryRun=                      Manifest -> 201 CleanerSaved; 400, 409, 422
//	GET    cleaners/{name}                       CleanerDetail
//	PUT    cleaners/{name}?dryRun=               Manifest -> 200 CleanerSaved
//	POST   cleaners/{name}/trigger               -> 202 Accepted
//	POST   cleaners/{name}/suspend, /resume      -> 200 CleanerSaved
//	POST   cleaners/{name}/cancel                Cancel -> 202 Accepted: stops the run that is going on
//	POST   cleaners/{name}/notify-test           ?notification= -> 200 CommandResult: a sample on each channel
//	GET    channels                              Page of Channel: the notifications of all Cleaners
//	POST   trigger-all                           -> 202 TriggeredAll
//	GET    runs?cleaner=&phase=&q=               Page of RunRow, the latest first
//	GET    runs/{name}                           RunDetail
//	GET    runs/{name}/outcomes?outcome=&kind=&namespace=&q=   Outcomes: a Page of v1alpha1.ObjectOutcome
//	GET    runs/{name}/diff                      Page of Change, with Diff in front: what is new since the run before
//	GET    runs/{name}/restore?only=&force=      RestorePlan: what a restore would do now (a dry run)
//	POST   runs/{name}/restore                   RestoreRequest -> 200 RestorePlan: what it did
//	GET    runs/{name}/copy?object=KIND/NS/NAME&force=  CopyCompared: what a restore would make of it, Secrets masked
//	GET    activity?cleaner=&run=&q=             Activities: what people did with one Cleaner, or about one run
//	GET    plans?cleaner=                        Page of Plan: those that wait, that which expires first in front
//	GET    plans/{name}                          Plan, also one that does not wait any more; its objects are the outcomes
//	                                             Planned of runs/{name}/outcomes
//	POST   plans/{name}/approve, /reject         PlanDecision -> 200 Decided; 403, and 409 when it does not wait any more
//	GET    findings?namespace=&kind=&type=&owner=&confidence=&q=&group=kind|namespace|type|owner&refresh=
//	                                             Findings: a scan as the person, of all or of one namespace
//	GET    findings/cleaner?kind=&type=&namespace=             Manifest: a Cleaner that looks for the same
//	GET    why?object=KIND/NAMESPACE/NAME        why.Result of pkg/cli/why, as kubectl cleaner why -o json
//	GET    loss?group=&kind=                     Loss: what no restore brings back of objects of the kind
//	POST   preview                               Preview -> text/event-stream, see Preview
//	GET    doctor                                {"checks": [doctor.Line]}, as kubectl cleaner doctor -o json
//	GET    library, library/{id}                 [LibraryRow], LibraryItem
//	GET    reports, reports/{name}               [ReportRow], v1alpha1.Report without fullResource
//	POST   reports/{name}/rollback               -> 200 RestorePlan: restores the last run that kept copies;
//	                                             its objects have success and message
//	GET    events                                text/event-stream, see Change of a stream: StreamEvent
package dashboard

import (
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Error is the body of every answer that is no success.
type Error struct {
	Error string `json:"error"`
	// Hint says what to do about it.
	Hint string `json:"hint,omitempty"`
	// Missing is the right that is missing, for example "list cleaners.apps.projectsveltos.io". Only with 403.
	Missing string `json:"missing,omitempty"`
}

// Page is one page of a list. Total counts all that the filters let through.
type Page[T any] struct {
	Items  []T `json:"items"`
	Total  int `json:"total"`
	Offset int `json:"offset"`
	Limit  int `json:"limit"`
}

// Login is what the form sends.
type Login struct {
	Token string `json:"token"`
}

// Config is what the page needs to know before anybody logged in.
type Config struct {
	// Mode is Token in the cluster (a person logs in with a token) and Local with a kubeconfig.
	Mode     string `json:"mode"`
	LoggedIn bool   `json:"loggedIn"`
	Version  string `json:"version"`
	// ReadOnly is true where the server takes no writes at all.
	ReadOnly bool `json:"readOnly"`
	// Namespace is where a person's findings start: of the kubeconfig, or of --namespace. Empty means all.
	Namespace string `json:"namespace,omitempty"`
}

// WhoAmI is the person, as the API server sees it.
type WhoAmI struct {
	User   string   `json:"user"`
	Groups []string `json:"groups"`
	// Cluster is the API server's address.
	Cluster string `json:"cluster"`
}

// Right is one thing that the person may do or not.
type Right struct {
	// ID is what it is for, one of the Right constants. Text says it in words.
	ID   string `json:"id"`
	Text string `json:"text"`
	Allowed
}

// Allowed is the answer of the API server's authorizer for exactly the call that an action would make.
type Allowed struct {
	Allowed bool `json:"allowed"`
	// Missing is the right that is missing, for example `patch cleaners.apps.projectsveltos.io "x"`.
	Missing string `json:"missing,omitempty"`
}

// The rights of Access.
const (
	RightCleanersRead   = "cleaners.read"
	RightCleanersCreate = "cleaners.create"
	RightCleanersChange = "cleaners.change" // run, suspend, resume, edit
	RightPlansDecide    = "plans.decide"
	RightRunsRead       = "runs.read"
	RightEventsRead     = "events.read"    // of Activities
	RightApprovalsRead  = "approvals.read" // of Activities
	RightReportsRead    = "reports.read"
	RightCopiesRead     = "copies.read"     // in the operator's namespace
	RightFindings       = "findings"        // of Access.Namespace, or of the whole cluster
	RightNamespacesRead = "namespaces.read" // to choose one from a list
)

// Access is what the person may. Namespaces are those to choose from; nil when the person may not list them.
type Access struct {
	Namespace  string   `json:"namespace,omitempty"`
	Namespaces []string `json:"namespaces,omitempty"`
	Rights     []Right  `json:"rights"`
}

// Summary is the overview. The first five fields are those that k8s-cleaner's page had. What the person may not read
// is absent, and Missing names it.
type Summary struct {
	TotalCleaners int        `json:"totalCleaners"`
	Ready         int        `json:"ready"`
	Failing       int        `json:"failing"`
	Suspended     int        `json:"suspended"`
	LastRun       *time.Time `json:"lastRun,omitempty"`
	Running       int        `json:"running"`
	// Attention is what needs a person, the most urgent first, at most 50.
	Attention []Attention `json:"attention"`
	// Next are the next ten runs.
	Next []NextRun `json:"next"`
	// Days are the last 30 days, of the records that there are, the oldest first. A day without a run is absent.
	Days    []Day   `json:"days"`
	Missing []Right `json:"missing"`
}

// Attention is one thing that needs a person.
type Attention struct {
	// Level is waiting (a plan waits for approval), error or warning.
	Level   string     `json:"level"`
	Cleaner string     `json:"cleaner"`
	Run     string     `json:"run,omitempty"`
	Reason  string     `json:"reason"`
	Message string     `json:"message"`
	Since   *time.Time `json:"since,omitempty"`
}

// NextRun is when a Cleaner runs next.
type NextRun struct {
	Cleaner string          `json:"cleaner"`
	Action  v1alpha1.Action `json:"action"`
	Time    time.Time       `json:"time"`
}

// Day is what the runs of a day (UTC, 2006-01-02) found and did.
type Day struct {
	Day     string `json:"day"`
	Runs    int64  `json:"runs"`
	Matched int64  `json:"matched"`
	Acted   int64  `json:"acted"`
	Failed  int64  `json:"failed"`
	// FreedBytes is the capacity of the claims and volumes that were deleted.
	FreedBytes int64 `json:"freedBytes,omitempty"`
}

// CleanerRow is a Cleaner in a list. State is Ready, NotReady, Suspended, Running or Failed (its last run failed).
type CleanerRow struct {
	Name      string          `json:"name"`
	Action    v1alpha1.Action `json:"action"`
	State     string          `json:"state"`
	Message   string          `json:"message,omitempty"`
	Suspended bool            `json:"suspended"`
	Schedule  string          `json:"schedule"`
	Words     string          `json:"words,omitempty"`
	Next      *time.Time      `json:"next,omitempty"`
	LastRun   *LastRun        `json:"lastRun,omitempty"`
	ActiveRun string          `json:"activeRun,omitempty"`
	// Plan is the run whose plan waits for a person.
	Plan *PlanWaits `json:"plan,omitempty"`
	// DryRunReason says why action is Scan although the spec says another, if spec.scanUntil is not the reason. ScanUntil
	// is when that lets it act, and ActsAs what it does then; absent when that is over, or changes nothing.
	DryRunReason string          `json:"dryRunReason,omitempty"`
	ScanUntil    *time.Time      `json:"scanUntil,omitempty"`
	ActsAs       v1alpha1.Action `json:"actsAs,omitempty"`
}

// PlanWaits is a plan that waits for a person.
type PlanWaits struct {
	Run     string    `json:"run"`
	Objects int64     `json:"objects"`
	Expires time.Time `json:"expires"`
}

// LastRun sums a run up.
type LastRun struct {
	Name string    `json:"name"`
	Time time.Time `json:"time"`
	v1alpha1.RunCounts
}

// CleanerDetail is all about one Cleaner.
type CleanerDetail struct {
	CleanerRow
	// NextTimes are the next five, whether it is suspended or not.
	NextTimes  []time.Time `json:"nextTimes"`
	TimeZone   string      `json:"timeZone,omitempty"`
	Guardrails []Guardrail `json:"guardrails"`
	// ForSeconds is for how long an object must have been found so before a run touches it.
	ForSeconds int64 `json:"forSeconds,omitempty"`
	// Selectors are what it selects, in a few words each: kind, namespaces, finding.
	Selectors []string `json:"selectors"`
	// Scripts are its Lua and CEL expressions, each with where it stands in the spec.
	Scripts    []Script                 `json:"scripts"`
	Conditions []Condition              `json:"conditions"`
	Matches    []v1alpha1.ObjectOutcome `json:"matches"` // of the last run, at most 50
	History    []RunRow                 `json:"history"` // at most 100, the latest first; for the chart too
	YAML       string                   `json:"yaml"`    // without status and managedFields
	Channels   []Channel                `json:"channels"`
	Actions    CleanerActions           `json:"actions"`
	Missing    []Right                  `json:"missing"` // what is absent above, because the person may not read it
}

// Channel is a notification of a Cleaner.
type Channel struct {
	Cleaner string                    `json:"cleaner"`
	Name    string                    `json:"name"`
	Type    v1alpha1.NotificationType `json:"type"`
	// Test is whether the person may send a sample. Absent for what the operator writes into the cluster.
	Test *Allowed `json:"test,omitempty"`

	secret *v1alpha1.NotificationRef
}

// CleanerActions are the buttons.
type CleanerActions struct {
	Trigger Allowed `json:"trigger"`
	Suspend Allowed `json:"suspend"` // resume as well
	Edit    Allowed `json:"edit"`
	Preview Allowed `json:"preview"`
}

// Guardrail is one thing that holds a Cleaner back, in words: its field, and what it says.
type Guardrail struct {
	Field string `json:"field"`
	Text  string `json:"text"`
}

// Script is one expression of a Cleaner.
type Script struct {
	Field    string `json:"field"`
	Language string `json:"language"` // Lua or CEL
	Text     string `json:"text"`
}

// Condition is one condition of a Cleaner or of a run.
type Condition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Since   time.Time `json:"since"`
}
