// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// reportTimeout bounds the writing of one Report.
const reportTimeout = 10 * time.Second

// Delivery delivers the notifications of runs, on the channels of their Cleaners.
type Delivery struct {
	// Report writes the Cleaner's Report. unlisted is how many objects are not among the outcomes.
	Report func(ctx context.Context, cleaner *v1alpha1.Cleaner, run *v1alpha1.CleanerRun, outcomes []stage.Outcome,
		unlisted int64) error
	// Runs are the Cleaner's records.
	Runs func(ctx context.Context, cleaner *v1alpha1.Cleaner) ([]v1alpha1.CleanerRun, error)
	// Save writes the run's record.
	Save func(ctx context.Context, run *v1alpha1.CleanerRun) error
	// Event is the channel of notifications of type Event.
	Event Channel
	// Sender sends the notifications of the types that need a Secret, and Secret reads that.
	Sender *Sender
	Secret ReadSecret
	// AccountRequired says that Cleaners must name a ServiceAccount.
	AccountRequired bool
	// Outbox sends the notifications of a run, in its own time. Nil in tests that do not look at that.
	Outbox func(run *v1alpha1.CleanerRun, outcomes []stage.Outcome)
	// Tried is called for each notification that was tried when the run ended, with the state that it is in then.
	Tried func(cleaner string, channel v1alpha1.NotificationType, state v1alpha1.NotificationState)
	Clock clock.PassiveClock
}

// Due are the notifications of a run that has ended, as its record lists them: what is written with the
// end of the run is sent, whatever becomes of this process.
func Due(cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun) []v1alpha1.NotificationStatus {
	if cleaner == nil {
		return nil
	}
	var entries []v1alpha1.NotificationStatus
	for i := range cleaner.Spec.Notifications {
		if n := &cleaner.Spec.Notifications[i]; n.IsDue(record) {
			entries = append(
				entries,
				v1alpha1.NotificationStatus{Name: n.Name, Type: n.Type, State: v1alpha1.NotificationPending},
			)
		}
	}
	return entries
}

// Notify delivers the notifications of a run that has ended. It writes the Report at once: that is one write, and the
// record need not have room for all objects. Everything else, and what did not succeed, is left to the outbox. Without
// outcomes, it delivers those that the record lists.
func (d *Delivery) Notify(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	record *v1alpha1.CleanerRun,
	outcomes []stage.Outcome,
) {
	tried := false
	for i := range record.Status.Notifications {
		entry := &record.Status.Notifications[i]
		if entry.Type != v1alpha1.NotificationCleanerReport {
			continue
		}
		tried = true
		err := d.report(ctx, cleaner, record, outcomes)
		if err != nil {
			klog.FromContext(ctx).Error(err, "Could not deliver notification", "notification", entry.Name, "type", entry.Type)
		}
		Settle(entry, err, d.Clock.Now(), record.Status.CompletionTime)
	}
	if tried && d.Save(ctx, record) == nil { // else it is written again, and counted then
		d.count(record)
	}
	if d.Outbox != nil && record.HasPendingNotifications() {
		d.Outbox(record, outcomes)
	}
}

// count counts the notifications that were tried when the run ended.
func (d *Delivery) count(record *v1alpha1.CleanerRun) {
	for i := range record.Status.Notifications {
		if entry := &record.Status.Notifications[i]; entry.Attempts > 0 {
			d.Tried(record.Spec.Cleaner, entry.Type, entry.State)
		}
	}
}

// report writes the Cleaner's Report.
func (d *Delivery) report(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	run *v1alpha1.CleanerRun,
	outcomes []stage.Outcome,
) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTimeout)
	defer cancel()
	unlisted := int64(0)
	if outcomes == nil {
		outcomes = Message{Run: run}.Listed()
		unlisted = unlistedOf(run, outcomes)
	}
	return fault.Logged(ctx, func() error { return d.Report(ctx, cleaner, run, outcomes, unlisted) })
}

// Deliver delivers one notification, for the outbox: from the run's record, unless the message has outcomes.
func (d *Delivery) Deliver(ctx context.Context, message Message, notification v1alpha1.Notification) error {
	if err := d.mayNotify(message.Cleaner, message.Run); err != nil {
		return err
	}
	unlisted, fromRecord := int64(0), message.Outcomes == nil
	if fromRecord {
		message.Outcomes = message.Listed()
		unlisted = unlistedOf(message.Run, message.Outcomes)
	}
	return fault.Logged(ctx, func() error {
		switch notification.Type {
		case v1alpha1.NotificationCleanerReport:
			if !fromRecord && isFirstTry(message.Run, notification.Name) {
				return d.Report(ctx, message.Cleaner, message.Run, message.Outcomes, unlisted)
			}
			return d.lateReport(ctx, message, notification, unlisted)
		case v1alpha1.NotificationEvent:
			return withUnlisted(d.Event(ctx, message), fromRecord, unlisted)
		}
		return d.send(ctx, notification, message)
	})
}

// mayNotify says why no notification of a run is sent. What the run found is only for those who know the account with
// which it was found, and the rights of the account before must not read a Secret that the Cleaner names now.
func (d *Delivery) mayNotify(cleaner *v1alpha1.Cleaner, run *v1alpha1.CleanerRun) error {
	switch account := run.Spec.ServiceAccountRef; {
	case d.AccountRequired && account == nil:
		return &Error{
			Reason:    "it was not sent: the run named no ServiceAccount, and the operator runs with --require-service-account",
			Permanent: true,
		}
	case !ptr.Equal(cleaner.Spec.ServiceAccountRef, account):
		return &Error{Reason: "it was not sent: serviceAccountRef was changed after the run", Permanent: true}
	}
	return nil
}

// unlistedOf is how many objects the run handled that its record, which lists the others, has no room for.
func unlistedOf(run *v1alpha1.CleanerRun, listed []stage.Outcome) int64 {
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

// withUnlisted says of Events that were written from the record that some may have been there before, and that there
// may not be one on every object.
func withUnlisted(err error, fromRecord bool, unlisted int64) error {
	var failure *Error
	if err != nil && !errors.As(err, &failure) || !fromRecord {
		return err
	}
	var texts []string
	if failure != nil {
		texts = append(
			texts,
			failure.Reason,
			"what was done is read from the record of the run, so some of them may have been written before",
		)
	}
	if unlisted > 0 {
		texts = append(
			texts,
			fmt.Sprintf(
				"perhaps the Events of %d more objects were not written: the operator was restarted, or there were too many. The CleanerRun counts these objects, but does not list them",
				unlisted,
			),
		)
	}
	if len(texts) == 0 {
		return nil
	}
	return &Error{Reason: strings.Join(texts, "; "), Permanent: failure == nil || failure.Permanent}
}
