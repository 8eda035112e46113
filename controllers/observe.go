// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
)

// observe brings the metrics up to date with what a round found out. It comes after the status was written, so that a
// run is counted once.
func (r *CleanerReconciler) observe(cleaner *v1alpha1.Cleaner, round *round) {
	next := cleaner.Status.NextScheduleTime
	if next != nil {
		next = &metav1.Time{Time: next.Add(r.jitter(cleaner))}
	}
	r.Metrics.Observe(cleaner, next)
	if round.ended != nil {
		r.Metrics.RunEnded(round.ended)
	}
	for _, decision := range round.misses {
		why := metrics.MissedSuperseded
		if decision.Due.IsZero() { // the latest of them is beyond the deadline, and so are those before it
			why = metrics.MissedTooLate
		}
		r.Metrics.RunsMissed(cleaner.Name, why, decision.Missed)
	}
}
