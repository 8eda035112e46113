// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// failTimeout bounds the looking at what a run that panicked has left: the operator may be stopping.
const failTimeout = time.Minute

// fail ends a run that panicked, and says truthfully what it had done by then. What stands in the cluster decides how:
// a run may have panicked on its way to the phase Executing.
func (r *Runner) fail(
	ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, panicked error,
) error {
	late := errors.New("the API server did not answer for too long")
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), failTimeout, late)
	defer cancel()
	if record.Status.Phase.Final() {
		return nil // it panicked after it had ended
	}
	start := record.Status.StartTime
	live, err := r.Record.Journal.Find(ctx, record.Name)
	if err != nil {
		return err
	}
	if live == nil || live.UID != record.UID || live.Status.Recoveries != record.Status.Recoveries ||
		live.Status.Phase.Final() {
		return nil // it was deleted, or taken over
	}
	live.DeepCopyInto(record)
	record.Status.StartTime = start
	if record.Status.Phase == v1alpha1.RunExecuting {
		r.finish(ctx, &task{record: record, action: record.Spec.Action}, &remainder{
			record: record, notifies: cleaner, failed: true,
			closing: errors.New("the objects that it did not reach were left alone"),
			cause:   "The run failed by " + panicked.Error(),
		})
		return nil
	}
	r.endAndNotify(ctx, &task{cleaner: cleaner, record: record}, &refusal{
		phase: v1alpha1.RunFailed, reason: v1alpha1.ReasonFailed,
		message: "Nothing was touched: the run failed by " + panicked.Error() + ".",
	})
	return nil
}
