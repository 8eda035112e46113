// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// failTimeout bounds the looking at what a run that panicked has left: the operator may be stopping.
const failTimeout = time.Minute

// guarded turns a panic into an error. In a goroutine of its own it would end the process, and in the middle of a record leave
// that behind.
func guarded(ctx context.Context, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a fault of KubeCleaner: %v", p)
			klog.FromContext(ctx).Error(err, "A part of a run panicked", "stack", string(debug.Stack()))
		}
	}()
	return do()
}

// recoverRun turns a panic into the failure of this run, and says truthfully what it had done by then.
func (r *Runner) recoverRun(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun) {
	p := recover()
	if p == nil {
		return
	}
	log := klog.FromContext(ctx)
	log.Error(fmt.Errorf("%v", p), "Run panicked", "stack", string(debug.Stack()))
	err := guarded(ctx, func() error { return r.fail(ctx, cleaner, record, p) })
	if err != nil {
		log.Error(err, "Could not bring a run to its end that panicked")
	}
}

// fail ends a run that panicked. What stands in the cluster decides how: a run may have panicked on its way to the phase Executing.
func (r *Runner) fail(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, p any) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), failTimeout, errors.New("the API server did not answer for too long"))
	defer cancel()
	if record.Status.Phase.Final() {
		return nil // it panicked after it had ended
	}
	start := record.Status.StartTime
	live, err := r.Record.Journal.Find(ctx, record.Name)
	if err != nil {
		return err
	}
	if live == nil || live.UID != record.UID || live.Status.Recoveries != record.Status.Recoveries || live.Status.Phase.Final() {
		return nil // it was deleted, or taken over
	}
	live.DeepCopyInto(record)
	record.Status.StartTime = start
	if record.Status.Phase == v1alpha1.RunExecuting {
		r.finish(ctx, &remainder{
			record: record, tells: cleaner, failed: true, closing: errors.New("what it had not come to was left alone"),
			cause: fmt.Sprintf("The run failed by a fault of KubeCleaner (%v; please report it with the operator's log)", p),
		})
		return nil
	}
	r.endAndTell(ctx, &task{cleaner: cleaner, record: record, asked: ctx}, &refusal{
		phase: v1alpha1.RunFailed, reason: v1alpha1.ReasonFailed,
		message: fmt.Sprintf("Nothing was touched: the run failed by a fault of KubeCleaner (%v); please report it with the operator's log.", p),
	})
	return nil
}
