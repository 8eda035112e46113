// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// isRepeated reports whether a scheduled Scan found nothing, and the run before it neither among as many objects: then
// there is nothing new to write an Event about. The condition RunSucceeded is of this run already.
func isRepeated(cleaner *v1alpha1.Cleaner, run *v1alpha1.CleanerRun) bool {
	last := cleaner.Status.LastRun
	return run.Spec.Trigger == v1alpha1.TriggerSchedule && run.Spec.Action == v1alpha1.ActionScan &&
		run.Status.Reason == v1alpha1.ReasonCompleted && run.Status.Matched == 0 &&
		last != nil && cleaner.Status.FailureMessage == nil && last.Action == run.Spec.Action &&
		last.DryRun == run.Spec.DryRun && last.RunCounts == run.Status.RunCounts
}

// lastRun sums a run up for status.
func lastRun(run *v1alpha1.CleanerRun) *v1alpha1.LastRun {
	last := &v1alpha1.LastRun{
		Name: run.Name, NominalTime: run.Spec.NominalTime, Trigger: run.Spec.Trigger, RunRequest: run.Spec.RunRequest,
		Action: run.Spec.Action, DryRun: run.Spec.DryRun, DryRunReason: run.Spec.DryRunReason,
		Duration: run.Status.Duration, RunCounts: run.Status.RunCounts,
	}
	size := 0
	for _, object := range run.Status.Objects[:min(maxMatches, len(run.Status.Objects))] {
		object.UID = ""
		object.Message = v1alpha1.Truncate(object.Message, maxMatchMessage)
		object.Reason = v1alpha1.Truncate(object.Reason, maxMatchMessage)
		if size += object.Size(); size > maxMatchesBytes {
			break
		}
		last.Matches = append(last.Matches, object)
	}
	return last
}
