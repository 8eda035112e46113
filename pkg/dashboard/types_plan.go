// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Plan is what a run of a Cleaner with spec.approval would do, once a person approves it.
type Plan struct {
	Run     string `json:"run"`
	Cleaner string `json:"cleaner"`
	// Hash is to be sent with a decision: it is about this plan and no other.
	Hash   string          `json:"hash"`
	Action v1alpha1.Action `json:"action"`
	Time   time.Time       `json:"time"`
	// Trigger is what the run that made it started from.
	Trigger v1alpha1.RunTrigger `json:"trigger"`
	// Waits is false when somebody has decided, or the plan has expired; then Message says what became of it.
	Waits   bool  `json:"waits"`
	Objects int64 `json:"objects"`
	// VolumeBytes is the capacity of the claims and volumes among them that would be deleted.
	VolumeBytes int64     `json:"volumeBytes,omitempty"`
	Expires     time.Time `json:"expires"`
	LeftAlone   int64     `json:"leftAlone"`
	Message     string    `json:"message,omitempty"`
	// Ended is how the waiting ended: Approved, Rejected, Expired or Superseded. Empty while it waits.
	Ended string `json:"ended,omitempty"`
	// DecidedBy, DecidedAt and DecidedWhy are of the decision. Only of one plan, and if the person may read the decision.
	DecidedBy  string     `json:"decidedBy,omitempty"`
	DecidedAt  *time.Time `json:"decidedAt,omitempty"`
	DecidedWhy string     `json:"decidedWhy,omitempty"`
	// CarriedOutBy is the run that carries the plan out.
	CarriedOutBy string  `json:"carriedOutBy,omitempty"`
	Decide       Allowed `json:"decide"`
	// Warnings say what no restore brings back: which objects get no copy, and what is deleted with them. Only of one
	// plan, while it waits.
	Warnings []string `json:"warnings,omitempty"`
}

// PlanDecision is what is sent to approve or reject a plan. Reject needs a reason.
type PlanDecision struct {
	Hash   string `json:"hash"`
	Reason string `json:"reason,omitempty"`
	// User is who decides, as the page shows it. With another login since then, it is somebody else: that is refused.
	// Empty means that it is not compared.
	User string `json:"user,omitempty"`
}

// Decided is what was said of a plan. The operator takes it up some seconds later.
type Decided struct {
	Run      string                    `json:"run"`
	Cleaner  string                    `json:"cleaner"`
	Decision v1alpha1.ApprovalDecision `json:"decision"`
	By       string                    `json:"by"`
}

// sortPlans puts the plan that expires first in front.
func sortPlans(plans []Plan) {
	slices.SortFunc(plans, func(a, b Plan) int {
		return cmp.Or(a.Expires.Compare(b.Expires), strings.Compare(a.Run, b.Run))
	})
}
