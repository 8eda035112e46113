// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// history is what is known of the records of one Cleaner, and not of another that had its name.
type history struct {
	journal.History
	cleaner types.UID
}

// prune deletes old records some time after a run has ended: when many Cleaners are due at once, the results come first.
func (r *CleanerReconciler) prune(ctx context.Context, cleaner *v1alpha1.Cleaner, round *round) {
	if round.ended != nil {
		r.historyOf(cleaner).Add(round.ended)
		r.unpruned.Store(cleaner.Name, true)
		if round.sleep == 0 || round.sleep > pruneDelay {
			round.sleep = pruneDelay
		}
		return
	}
	if _, ok := r.unpruned.LoadAndDelete(cleaner.Name); !ok {
		return
	}
	if err := r.Journal.Prune(ctx, cleaner, &r.historyOf(cleaner).History); err != nil {
		klog.FromContext(ctx).Error(err, "Could not delete old CleanerRuns")
	}
}

// historyOf is for the goroutine that reconciles the Cleaner, of which there is one at a time.
func (r *CleanerReconciler) historyOf(cleaner *v1alpha1.Cleaner) *history {
	known, _ := r.histories.Load(cleaner.Name)
	if h, ok := known.(*history); ok && h.cleaner == cleaner.UID {
		return h
	}
	h := &history{cleaner: cleaner.UID}
	r.histories.Store(cleaner.Name, h)
	return h
}
