// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// prune deletes old records some time after a run has ended: when many Cleaners are due at once, the results come
// first.
func (r *CleanerReconciler) prune(ctx context.Context, cleaner *v1alpha1.Cleaner, round *round) {
	if round.ended != nil {
		round.memory.history.Add(round.ended)
		round.memory.unpruned = true
		if round.sleep == 0 || round.sleep > pruneDelay {
			round.sleep = pruneDelay
		}
		return
	}
	if !round.memory.unpruned {
		return
	}
	round.memory.unpruned = false
	if err := r.Journal.Prune(ctx, cleaner, &round.memory.history); err != nil {
		klog.FromContext(ctx).Error(err, "Could not delete old CleanerRuns")
	}
}

// CopiesDropped reports copies that were dropped before their time.
func (r *CleanerReconciler) CopiesDropped(run *v1alpha1.CleanerRun, why string) {
	cleaner := &v1alpha1.Cleaner{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Cleaner"},
		ObjectMeta: metav1.ObjectMeta{Name: run.Spec.Cleaner, UID: run.Spec.CleanerUID},
	}
	r.Events.Eventf(
		cleaner,
		run,
		corev1.EventTypeWarning,
		"CopiesDropped",
		"Drop",
		"The copies of run %s were dropped before their time: %s. What the run touched cannot be restored any more.",
		run.Name,
		why,
	)
}
