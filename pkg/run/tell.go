// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

// tell is stage 6. The Report is written at once: one write, for which the record need not have room for all objects. Everything else,
// and what did not succeed, is left to the outbox.
func (r *Runner) tell(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, outcomes []object.Outcome) {
	tried := false
	for i := range record.Status.Notifications {
		entry := &record.Status.Notifications[i]
		if entry.Type != v1alpha1.NotificationCleanerReport {
			continue
		}
		tried = true
		err := r.report(ctx, notify.Message{Cleaner: cleaner, Run: record, Outcomes: outcomes})
		if err != nil {
			klog.FromContext(ctx).Error(err, "Could not deliver notification", "notification", entry.Name, "type", entry.Type)
		}
		notify.Settle(entry, err, r.Clock.Now(), record.Status.CompletionTime)
	}
	if tried && r.save(ctx, record, record.Status.Phase) == nil { // else it is written again, and counted then
		r.countNotifications(record)
	}
	if r.Outbox != nil && record.HasPendingNotifications() {
		r.Outbox(record, outcomes)
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

// report writes the Cleaner's Report. If it panics, it has failed.
func (r *Runner) report(ctx context.Context, message notify.Message) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
	defer cancel()
	return guarded(ctx, func() error { return r.Journal.WriteReport(ctx, message.Cleaner, message.Run, message.Outcomes, 0) })
}

// Deliver tells a run, for the outbox: from its record, unless the message has outcomes. If that panics, it has failed.
func (r *Runner) Deliver(ctx context.Context, message notify.Message, notification v1alpha1.Notification) error {
	ctx = forCleaner(ctx, message.Run.Spec.Cleaner)
	unlisted, fromRecord := int64(0), message.Outcomes == nil
	if fromRecord {
		message.Outcomes = message.Told()
		unlisted = unlistedOf(message.Run, message.Outcomes)
	}
	return guarded(ctx, func() error {
		switch notification.Type {
		case v1alpha1.NotificationCleanerReport:
			return r.Journal.WriteReport(ctx, message.Cleaner, message.Run, message.Outcomes, unlisted)
		case v1alpha1.NotificationEvent:
			return withUnlisted(r.Event(ctx, message), fromRecord, unlisted)
		}
		return r.send(ctx, notification, message)
	})
}

// unlistedOf is how many objects the run handled that its record, which lists the others, has no room for.
func unlistedOf(run *v1alpha1.CleanerRun, listed []object.Outcome) int64 {
	handled := run.Status.Acted
	if run.Spec.Action == v1alpha1.ActionScan || run.Spec.DryRun {
		handled = run.Status.Matched - run.Status.Skipped
	}
	for i := range listed {
		if listed[i].Handled(run.Spec.Action) {
			handled--
		}
	}
	return max(0, min(handled, run.Status.ObjectsOmitted))
}

// withUnlisted says of Events that were written from the record that some may have been there before, and that there may not be one on
// every object.
func withUnlisted(err error, fromRecord bool, unlisted int64) error {
	var told *notify.Error
	if err != nil && !errors.As(err, &told) || !fromRecord {
		return err
	}
	var texts []string
	if told != nil {
		texts = append(texts, told.Reason, "what was done is read from the record of the run, so some of them may have been written before")
	}
	if unlisted > 0 {
		texts = append(texts, fmt.Sprintf("Events on %d more objects may not have been written: the operator was restarted meanwhile, or had too many of them to write, and the record of the run counts these, and does not list them", unlisted))
	}
	if len(texts) == 0 {
		return nil
	}
	return &notify.Error{Reason: strings.Join(texts, "; "), Permanent: told == nil || told.Permanent}
}
