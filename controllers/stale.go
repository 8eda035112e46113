// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// requestLife is for how long a request for a run may wait for an operator: for its takeover or its upgrade, but not
// for the one that somebody installs days later.
const requestLife = 15 * time.Minute

// longestRun is how long a run may take at most, as pkg/deadline has it.
const longestRun = time.Hour

// begun is when this process looked at a Cleaner first: when it became the leader.
func (r *CleanerReconciler) begun() time.Time {
	now := r.Clock.Now()
	if r.firstLook.CompareAndSwap(nil, &now) {
		return now
	}
	return *r.firstLook.Load()
}

// staleWords say why a request is not answered that was made long before this operator came up: nobody expects its run
// any more. They are empty for any other request, also for one that does not say when it was made, in RFC 3339. A
// request that waits for a run to end does not get stale.
func staleWords(requested string, begun time.Time) string {
	asked, err := time.Parse(time.RFC3339, requested)
	if err != nil || !asked.Before(begun.Add(-requestLife)) {
		return ""
	}
	return fmt.Sprintf("it was requested at %s, more than %d minutes before the operator started. Request it again with kubectl cleaner run",
		asked.UTC().Format(timeFormat), int(requestLife.Minutes()))
}

// whyStale says why a request is not answered with a run. Empty when it is.
func (r *CleanerReconciler) whyStale(round *round, requested string) string {
	if requested == round.memory.waited {
		return ""
	}
	return staleWords(requested, r.begun())
}

// declineStale answers a stale request without a run. It reports whether it did.
func (r *CleanerReconciler) declineStale(cleaner *v1alpha1.Cleaner, round *round, requested string) bool {
	why := r.whyStale(round, requested)
	if why == "" {
		return false
	}
	decline(cleaner, requested, why)
	return true
}

// waitedFor reports whether a request waited for the run, which has ended, and not for an operator: one was there when
// the run began, and may have been until shortly before this one came up, at begun. Before the run began, it may have
// waited for its turn.
func waitedFor(requested string, run *v1alpha1.CleanerRun, begun time.Time) bool {
	asked, err := time.Parse(time.RFC3339, requested)
	if err != nil || run.Status.CompletionTime == nil {
		return false
	}
	began, ended := run.CreationTimestamp.Time, run.Status.CompletionTime.Time
	// A run that was missed has a nominal time from before its operator.
	isBefore := asked.Before(began) && (asked.Before(run.Spec.NominalTime.Time) || asked.Before(began.Add(-requestLife)))
	return !isBefore && !asked.After(ended) &&
		begun.Sub(began) <= longestRun && begun.Sub(ended) <= requestLife
}
