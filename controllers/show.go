// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// mayShowLater reports whether a run may be submitted before the status says so: one that touches nothing, and that the
// next leader finds due again should this process go away. The Cleaner must be as this process left it: otherwise the
// write shows that the cache is behind.
func (r *CleanerReconciler) mayShowLater(stored, cleaner *v1alpha1.Cleaner, round *round) bool {
	return r.ShowAfter > 0 && round.starts == v1alpha1.TriggerSchedule && round.ended == nil && round.attempt == nil &&
		round.memory.unshown == nil && cleaner.EffectiveAction() == v1alpha1.ActionScan &&
		round.memory.version == stored.ResourceVersion
}

// show writes the status.
func (r *CleanerReconciler) show(ctx context.Context, stored, cleaner *v1alpha1.Cleaner, memory *memory) error {
	if err := r.patch(ctx, stored, cleaner); err != nil {
		return err
	}
	if cleaner.ResourceVersion != stored.ResourceVersion {
		memory.version = cleaner.ResourceVersion
	}
	if memory.seen = cleaner.Status.ObservedSpec; stored.Status.ObservedSpec != memory.seen {
		memory.edited = r.Clock.Now()
	}
	memory.unshown, memory.unstamped, memory.outdated, memory.conflicts = nil, false, sight{}, 0
	return nil
}

// retry turns a lost race into a new look at the Cleaner.
func (r *CleanerReconciler) retry(name string, err error) (reconcile.Result, error) {
	switch {
	case err == nil:
		return reconcile.Result{}, nil
	case apierrors.IsConflict(err), errors.Is(err, errBehind):
		memory := r.memoryOf(name)
		memory.conflicts++
		return reconcile.Result{RequeueAfter: conflictDelay(memory.conflicts)}, nil
	case apierrors.IsNotFound(err): // a deleted one is not in the cache then
		return reconcile.Result{RequeueAfter: maxRetryDelay}, nil
	}
	return reconcile.Result{}, err
}

// conflictDelay is after how long a Cleaner is read again that changed under our hands so many times in a row.
func conflictDelay(conflicts int) time.Duration {
	delay := retryDelay
	for ; conflicts > 1 && delay < maxRetryDelay; conflicts-- {
		delay *= 2
	}
	return min(delay, maxRetryDelay)
}

// patch writes what changed in the status, if the Cleaner is still as it was read.
func (r *CleanerReconciler) patch(ctx context.Context, stored, cleaner *v1alpha1.Cleaner) error {
	if equality.Semantic.DeepEqual(stored.Status, cleaner.Status) {
		return nil
	}
	// The cache holds no match lists: without this, the patch would not take an old one away.
	if last := cleaner.Status.LastRun; last != nil && len(last.Matches) == 0 && stored.Status.LastRun != nil &&
		last.Name != stored.Status.LastRun.Name {
		stored.Status.LastRun.Matches = []v1alpha1.ObjectOutcome{{}}
	}
	// Strict, so that nothing is written when the API server does not keep all of it.
	patch := withSpec{client.MergeFromWithOptions(stored, client.MergeFromWithOptimisticLock{}), stored.Spec}
	err := r.Client.Status().Patch(ctx, cleaner, patch,
		client.FieldValidation("Strict"), client.FieldOwner(v1alpha1.StatusManager))
	if err != nil && strings.Contains(err.Error(), "strict decoding error") { // the rest of it is the whole Cleaner
		return errNotKept
	}
	return err
}

// errNotKept says that nothing was written, because the API server would not have stored all of it.
var errNotKept = errors.New("the API server does not keep all fields of the Cleaner")

// withSpec is a patch of the status that also has the spec as the cache has it. The API server does not change the
// spec, but validates it: it refuses the patch if it does not keep a field, and does not store the Cleaner without it.
type withSpec struct {
	client.Patch
	spec v1alpha1.CleanerSpec
}

// Data implements client.Patch.
func (p withSpec) Data(o client.Object) ([]byte, error) {
	patch := map[string]any{}
	data, err := p.Patch.Data(o)
	if err == nil {
		err = json.Unmarshal(data, &patch)
	}
	if err != nil {
		return nil, err
	}
	patch["spec"] = p.spec
	return json.Marshal(patch)
}
