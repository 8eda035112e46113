// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// lateReport writes the Report of a run that ended a while ago, unless it would take the place of a later run's.
func (d *Delivery) lateReport(
	ctx context.Context, message Message, notification v1alpha1.Notification, unlisted int64,
) error {
	runs, err := d.Runs(ctx, message.Cleaner)
	if err != nil {
		return err
	}
	if isReplaced(message.Run, runs, message.Cleaner.Status.LastRun, notification) {
		return permanent("it was not written: a later run has written the Report, or is about to")
	}
	return d.Report(ctx, message.Cleaner, message.Run, message.Outcomes, unlisted)
}

// isFirstTry reports whether a notification of a run was not tried before. Right after the run, no later one has ended.
func isFirstTry(run *v1alpha1.CleanerRun, name string) bool {
	return !slices.ContainsFunc(run.Status.Notifications, func(n v1alpha1.NotificationStatus) bool {
		return n.Name == name && n.Attempts > 0
	})
}

// isReplaced reports whether the Report is that of a run later than this one. runs are those of the Cleaner that have
// records, and last is the last one that its status knows of: that may lag behind the records, and the record may be
// gone.
func isReplaced(
	run *v1alpha1.CleanerRun, runs []v1alpha1.CleanerRun, last *v1alpha1.LastRun, notification v1alpha1.Notification,
) bool {
	since := run.Spec.NominalTime.Time
	reports := func(n v1alpha1.NotificationStatus) bool {
		return n.Type == v1alpha1.NotificationCleanerReport && n.State != v1alpha1.NotificationFailed
	}
	gone := last != nil && last.NominalTime.After(since)
	for i := range runs {
		later := &runs[i]
		if later.Spec.NominalTime.After(since) && slices.ContainsFunc(later.Status.Notifications, reports) {
			return true
		}
		gone = gone && later.Name != last.Name
	}
	// Nobody can say any more what that run sent; but what every run sends, it sent.
	return gone && slices.Contains(notification.Occasions(), v1alpha1.NotifyOnAlways)
}
