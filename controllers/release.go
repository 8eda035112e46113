// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// release lets a deleted Cleaner go that k8s-cleaner put a finalizer on, and clears away what nothing else would.
func (r *CleanerReconciler) release(ctx context.Context, cleaner *v1alpha1.Cleaner) error {
	if !controllerutil.ContainsFinalizer(cleaner, v1alpha1.Finalizer) &&
		!controllerutil.ContainsFinalizer(cleaner, v1alpha1.LegacyFinalizer) {
		return nil
	}
	if err := r.Journal.DropCounts(ctx, cleaner); err != nil {
		return err
	}
	if err := r.Journal.DropReport(ctx, cleaner.Name); err != nil {
		return err
	}
	return client.IgnoreNotFound(r.dropFinalizers(ctx, cleaner, v1alpha1.Finalizer, v1alpha1.LegacyFinalizer))
}

func (r *CleanerReconciler) dropLegacyFinalizer(ctx context.Context, cleaner *v1alpha1.Cleaner) error {
	if !controllerutil.ContainsFinalizer(cleaner, v1alpha1.LegacyFinalizer) {
		return nil
	}
	return r.dropFinalizers(ctx, cleaner, v1alpha1.LegacyFinalizer)
}

// dropFinalizers patches the finalizers only: an update would write the whole spec as this version knows it.
func (r *CleanerReconciler) dropFinalizers(ctx context.Context, cleaner *v1alpha1.Cleaner, finalizers ...string) error {
	stored := cleaner.DeepCopy()
	for _, finalizer := range finalizers {
		controllerutil.RemoveFinalizer(cleaner, finalizer)
	}
	return r.Client.Patch(ctx, cleaner, client.MergeFromWithOptions(stored, client.MergeFromWithOptimisticLock{}))
}
