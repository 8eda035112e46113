// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// stopAtOnce stops a run that the Cleaner, as it is, does not allow any more, before anything is asked that may fail.
func (r *CleanerReconciler) stopAtOnce(cleaner *v1alpha1.Cleaner) {
	active, ok := r.Executor.Active(cleaner.Name)
	if !ok {
		return
	}
	run := v1alpha1.RunName(cleaner.Name, active.Nominal)
	if stopped := journal.Stopped(cleaner, run, active.WhileSuspended); stopped != nil {
		r.Executor.Cancel(cleaner.Name, stopped)
	}
}

// whyStopped says why the Cleaner, as it is now, stops its active run. Nil when it does not.
func (r *CleanerReconciler) whyStopped(ctx context.Context, cleaner *v1alpha1.Cleaner) (stopped, err error) {
	active := cleaner.Status.ActiveRun
	if stopped := journal.Stopped(cleaner, active.Name, active.WhileSuspended); stopped != nil {
		return stopped, nil
	}
	if scans, err := r.becameScan(ctx, cleaner); !scans || err != nil {
		return nil, err
	}
	return journal.ErrBecameScan, nil
}

// becameScan reports whether the Cleaner was changed so that it only reports, and the active run does more. A run
// without a record waits, which it may do again, or has just read the Cleaner, perhaps before the change.
func (r *CleanerReconciler) becameScan(ctx context.Context, cleaner *v1alpha1.Cleaner) (bool, error) {
	reports := cleaner.EffectiveAction() == v1alpha1.ActionScan ||
		cleaner.Observing(cleaner.Status.ActiveRun.NominalTime.Time) != ""
	if !reports || cleaner.Status.Action == v1alpha1.ActionScan {
		return false, nil
	}
	run, err := r.Journal.Find(ctx, cleaner.Status.ActiveRun.Name)
	return err == nil && (run == nil || run.Spec.Action != v1alpha1.ActionScan), err
}

// mayNotBegin says why a run that has no record yet may not begin. Empty if it may, also as a Scan.
func (r *round) mayNotBegin(stopped error) string {
	switch {
	case stopped != nil && !errors.Is(stopped, journal.ErrBecameScan):
		return stopped.Error()
	case r.lost != "":
		return "the Cleaner lost fields"
	case r.foreign != "":
		return "another controller wrote the Cleaner's status"
	}
	return ""
}
