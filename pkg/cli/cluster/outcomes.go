// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Outcomes are all outcomes in the order in which they are shown: what went wrong, what was done, what matched, and
// last what was left alone as it should be.
func Outcomes() []v1alpha1.OutcomeResult {
	return []v1alpha1.OutcomeResult{
		v1alpha1.OutcomeFailed,
		v1alpha1.OutcomeDenied,
		v1alpha1.OutcomeKindGone,
		v1alpha1.OutcomeNotEvaluated,
		v1alpha1.OutcomeDeleted,
		v1alpha1.OutcomeTerminating,
		v1alpha1.OutcomeTransformed,
		v1alpha1.OutcomeFoundGone,
		v1alpha1.OutcomePlanned,
		v1alpha1.OutcomeMatched,
		v1alpha1.OutcomeDryRun,
		v1alpha1.OutcomeNotActed,
		v1alpha1.OutcomeInterrupted,
		v1alpha1.OutcomeAbandoned,
		v1alpha1.OutcomeConflict,
		v1alpha1.OutcomeChanged,
		v1alpha1.OutcomeReplaced,
		v1alpha1.OutcomeGone,
		v1alpha1.OutcomeUnchanged,
		v1alpha1.OutcomeUnknown,
		v1alpha1.OutcomeProtected,
	}
}

// Rank is where an object stands. What a run reports although it is protected comes last: no run would touch it.
func Rank(o *v1alpha1.ObjectOutcome) int {
	outcomes := Outcomes()
	at := slices.Index(outcomes, o.Outcome)
	switch {
	case IsSpared(o):
		return len(outcomes) + 1
	case at < 0: // of a later version
		return len(outcomes)
	}
	return at
}

// IsSpared reports whether a run that only reports shows an object that is protected.
func IsSpared(o *v1alpha1.ObjectOutcome) bool {
	onlyReported := o.Outcome == v1alpha1.OutcomeMatched || o.Outcome == v1alpha1.OutcomeDryRun
	return onlyReported && strings.HasPrefix(o.Reason, "protected:")
}

// Ending says what the outcome Terminating means for the objects of a run, and what they wait for. Empty without any.
func Ending(run *v1alpha1.CleanerRun) string {
	var ending int64
	for _, t := range run.Status.Tallies { // of all, also of those that the record has no room for
		if t.Outcome == v1alpha1.OutcomeTerminating {
			ending += t.Count
		}
	}
	for i := range run.Status.Objects {
		if len(run.Status.Tallies) == 0 && run.Status.Objects[i].Outcome == v1alpha1.OutcomeTerminating {
			ending++
		}
	}
	if ending == 0 {
		return ""
	}
	return "at the end of the run, " + terminal.Grouped(ending, "object") + terminal.Plural(ending, " was", " were") +
		" still being deleted (Terminating). The API server removes such an object after its grace period, when its finalizers " +
		"are removed; the reason names them. KubeCleaner never removes a finalizer."
}
