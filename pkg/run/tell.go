// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// due are the notifications that a run that has ended has to tell, as its record lists them: what is written with the end of the run
// is sent, whatever becomes of this process.
func due(cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun) []v1alpha1.NotificationStatus {
	if cleaner == nil {
		return nil
	}
	var entries []v1alpha1.NotificationStatus
	for i := range cleaner.Spec.Notifications {
		if n := &cleaner.Spec.Notifications[i]; n.IsDue(record) {
			entries = append(entries, v1alpha1.NotificationStatus{Name: n.Name, Type: n.Type, State: v1alpha1.NotificationPending})
		}
	}
	return entries
}

// tell is stage 6. The Report and Events are written at once, because the record need not have room for all objects; everything
// else, and what did not succeed, is left to the outbox.
func (r *Runner) tell(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, outcomes []object.Outcome) {
	tried := false
	for i := range record.Status.Notifications {
		entry := &record.Status.Notifications[i]
		if entry.Type != v1alpha1.NotificationCleanerReport && entry.Type != v1alpha1.NotificationEvent {
			continue
		}
		tried = true
		err := r.deliver(ctx, *entry, cleaner, record, outcomes)
		if err != nil {
			klog.FromContext(ctx).Error(err, "Could not deliver notification", "notification", entry.Name, "type", entry.Type)
		}
		notify.Settle(entry, err, r.Clock.Now(), record.Status.CompletionTime)
	}
	if tried && r.save(ctx, record, record.Status.Phase) == nil { // else they are sent again, and counted then
		r.countNotifications(record)
	}
	if r.Outbox != nil && record.HasPendingNotifications() {
		r.Outbox(record)
	}
}

// countNotifications counts the notifications that a run has tried to deliver itself.
func (r *Runner) countNotifications(record *v1alpha1.CleanerRun) {
	for i := range record.Status.Notifications {
		if entry := &record.Status.Notifications[i]; entry.Attempts > 0 {
			r.Metrics.Notified(record.Spec.Cleaner, entry.Type, entry.State)
		}
	}
}

// deliver tells the run on one channel of the cluster. One that panics has failed.
func (r *Runner) deliver(ctx context.Context, entry v1alpha1.NotificationStatus, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, outcomes []object.Outcome) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
	defer cancel()
	return guarded(ctx, func() error {
		if entry.Type == v1alpha1.NotificationCleanerReport {
			return r.Journal.WriteReport(ctx, cleaner, record, outcomes)
		}
		return r.event(ctx, notify.Message{Cleaner: cleaner, Run: record, Outcomes: outcomes})
	})
}

// event records Events. It is not tried again: some may be there, and would be there twice.
func (r *Runner) event(ctx context.Context, message notify.Message) error {
	if err := r.Event(ctx, message); err != nil {
		return &notify.Error{Reason: oneLine(err), Permanent: true}
	}
	return nil
}

// Deliver tells a run from its record, for the outbox.
func (r *Runner) Deliver(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, notification v1alpha1.Notification) error {
	ctx = forCleaner(ctx, record.Spec.Cleaner)
	message := notify.Message{Cleaner: cleaner, Run: record, Notification: notification.Name}
	switch notification.Type {
	case v1alpha1.NotificationCleanerReport:
		return r.Journal.WriteReport(ctx, cleaner, record, message.Told())
	case v1alpha1.NotificationEvent: // its operator went away before
		message.Outcomes = message.Told()
		return r.event(ctx, message)
	}
	return r.send(ctx, notification, message)
}
