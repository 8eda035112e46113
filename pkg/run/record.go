// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// record is stage 5: what became of every object, and of the run. It returns false when the run is another operator's.
func (r *Runner) record(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, plan *plan, outcomes []object.Outcome, err error) bool {
	rest := plan.scan.rest(record)
	journal.Describe(record, plan.considered, append(outcomes[:len(outcomes):len(outcomes)], plan.notEvaluated...), rest)
	record.Status.Exhausted = plan.exhausted(outcomes)
	if waited := plan.waited(); waited >= time.Millisecond {
		record.Status.Waited = &metav1.Duration{Duration: waited.Round(time.Millisecond)}
	}
	phase, reason, message := conclude(ctx, record, plan, outcomes, err)
	switch unsaved := r.close(ctx, cleaner, record, phase, reason, message); {
	case unsaved == nil:
		r.count(ctx, record, plan, outcomes, rest, err)
	case errors.Is(unsaved, journal.ErrTaken):
		return false
	}
	log := klog.FromContext(ctx).WithValues("reason", reason, "considered", record.Status.Considered, "matched", record.Status.Matched,
		"acted", record.Status.Acted, "skipped", record.Status.Skipped, "failed", record.Status.Failed, "duration", record.Status.Duration.Duration.String())
	if phase == v1alpha1.RunCompleted {
		log.Info("Run completed", "action", record.Spec.Action)
	} else {
		log.Info("Run did not complete", "action", record.Spec.Action, "message", message)
	}
	return true
}
