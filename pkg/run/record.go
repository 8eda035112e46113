// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"

	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// record is stage 5: what became of every object, and of the run. It returns false when the run is another operator's.
func (r *Runner) record(ctx context.Context, record *v1alpha1.CleanerRun, plan *plan, outcomes []object.Outcome, err error) bool {
	journal.Describe(record, plan.considered, append(outcomes[:len(outcomes):len(outcomes)], plan.notEvaluated...))
	record.Status.Exhausted = plan.exhausted(outcomes)
	phase, reason, message := conclude(ctx, record, plan, outcomes, err)
	if !r.end(ctx, record, phase, reason, message) {
		return false
	}
	for _, outcome := range outcomes {
		r.Metrics.ObjectHandled(record, outcome.Kind.Group, outcome.Kind.Kind, outcome.Result)
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

// tell is stage 6: every notification on its own. Whether all were tried, and what could not be delivered, is put into the
// record.
func (r *Runner) tell(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, outcomes []object.Outcome) {
	if len(cleaner.Spec.Notifications) == 0 {
		return
	}
	for _, notification := range cleaner.Spec.Notifications {
		if err := r.deliver(ctx, notification, cleaner, record, outcomes); err != nil {
			klog.FromContext(ctx).Error(err, "Could not deliver notification", "notification", notification.Name, "type", notification.Type)
			record.Status.Undelivered = append(record.Status.Undelivered,
				v1alpha1.Truncate(fmt.Sprintf("%s (%s): %s", notification.Name, notification.Type, oneLine(err)), 1024))
		}
	}
	record.Status.Notified = true
	_ = r.save(ctx, record, record.Status.Phase)
}

// deliver tells the run on one channel. A channel that panics has failed.
func (r *Runner) deliver(ctx context.Context, notification v1alpha1.Notification, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, outcomes []object.Outcome) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a fault of KubeCleaner: %v", p)
		}
	}()
	switch notification.Type {
	case v1alpha1.NotificationCleanerReport:
		return r.Journal.WriteReport(ctx, cleaner, record, outcomes)
	}
	message := notify.Message{Cleaner: cleaner, Run: record, Outcomes: outcomes}
	switch {
	case record.Status.Matched == 0:
		return nil
	case notification.Type == v1alpha1.NotificationEvent:
		return r.Event(ctx, message)
	}
	return r.send(ctx, notification, message)
}
