// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// holdBack keeps a Cleaner from running while another controller may act on the same objects. What was due stays due.
//
// When k8s-cleaner reconciles a Cleaner whose next run has another time than it expects, it corrects the time. So the
// first look moves the time by a second: a k8s-cleaner that still runs answers now, not only when the next run is due.
// The schedule corrects the time as well, but only before that run is due, so a run that is due soon is left alone.
func (r *CleanerReconciler) holdBack(cleaner *v1alpha1.Cleaner, round *round) {
	before := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionReady)
	isNew := before == nil || before.Message != round.foreign
	refuse(cleaner, v1alpha1.ReasonForeignController, round.foreign)
	if next := cleaner.Status.NextScheduleTime; isNew && next != nil && next.Sub(r.Clock.Now()) > 2*v1alpha1.ForeignQuiet {
		next.Time = next.Add(time.Second)
	}
	round.sleep = wait.Jitter(v1alpha1.ForeignQuiet, 0.2)
}
