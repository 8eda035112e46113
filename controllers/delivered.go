// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// change is one call of NotificationsChanged. It has a size, so that each has its own address.
type change struct{ _ byte }

// NotificationsChanged is called when the delivery of the notifications of a run of the named Cleaner has changed.
func (r *CleanerReconciler) NotificationsChanged(name string) {
	r.memoryOf(name).delivery.Store(new(change))
	r.Finished(name)
}

// doubtDelivery makes the first round of a process look at the deliveries that were not over: the process before may
// have ended after they were recorded, and before the status said so.
func (m *memory) doubtDelivery(cleaner *v1alpha1.Cleaner) {
	is := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionNotificationsDelivered)
	if is != nil && is.Status != metav1.ConditionTrue {
		m.delivery.CompareAndSwap(nil, new(change))
	}
}

// foldDelivery brings the condition NotificationsDelivered up to date with the record of the last run and, when
// something was not delivered before, with those of earlier ones: a run without
// notifications does not make it good.
func (r *CleanerReconciler) foldDelivery(ctx context.Context, cleaner *v1alpha1.Cleaner, round *round) error {
	if round.delivery == nil && round.ended == nil || cleaner.Status.LastRun == nil {
		return nil
	}
	run := round.ended
	if run == nil {
		var err error
		if run, err = r.Journal.Find(ctx, cleaner.Status.LastRun.Name); err != nil {
			return err
		}
	}
	if !hasEnded(run, cleaner) {
		return nil
	}
	latest := run.Status.Notifications
	before := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionNotificationsDelivered)
	if before != nil && before.Status != metav1.ConditionTrue {
		runs, err := r.Journal.Runs(ctx, cleaner)
		if err != nil {
			return err
		}
		latest = latestOfEach(cleaner, latest, runs)
	}
	setDelivered(cleaner, latest, run.Name)
	return nil
}

// hasEnded reports whether it is a run of the Cleaner, and over.
func hasEnded(run *v1alpha1.CleanerRun, cleaner *v1alpha1.Cleaner) bool {
	return run != nil && run.Spec.CleanerUID == cleaner.UID && run.Status.Phase.Final()
}

// latestOfEach adds to the notifications of the last run those that it did not send, as they went the last time.
func latestOfEach(cleaner *v1alpha1.Cleaner, last []v1alpha1.NotificationStatus,
	runs []v1alpha1.CleanerRun,
) []v1alpha1.NotificationStatus {
	slices.SortFunc(runs, func(a, b v1alpha1.CleanerRun) int {
		return b.Spec.NominalTime.Compare(a.Spec.NominalTime.Time)
	})
	latest := slices.Clone(last)
	for i := range runs {
		for _, n := range runs[i].Status.Notifications {
			known := func(other v1alpha1.NotificationStatus) bool { return other.Name == n.Name }
			wanted := func(spec v1alpha1.Notification) bool { return spec.Name == n.Name && spec.Type == n.Type }
			if !slices.ContainsFunc(latest, known) && slices.ContainsFunc(cleaner.Spec.Notifications, wanted) {
				n.Message = "of run " + runs[i].Name + ": " + n.Message
				latest = append(latest, n)
			}
		}
	}
	return latest
}

// troublesOf are the notifications that were not delivered, those first that failed for good, and how many wait for
// their first attempt.
func troublesOf(notifications []v1alpha1.NotificationStatus) (troubles []trouble, failed, waiting int) {
	for _, n := range notifications {
		name := fmt.Sprintf("%s (%s)", n.Name, n.Type)
		switch {
		case n.State == v1alpha1.NotificationFailed:
			troubles = slices.Insert(troubles, failed, trouble{name, n.Message})
			failed++
		case n.State == v1alpha1.NotificationPending && n.Attempts > 0:
			troubles = append(troubles, trouble{
				name,
				fmt.Sprintf("%s; it will be tried again at %s", n.Message, n.NextAttemptTime.UTC().Format(time.RFC3339)),
			})
		case n.State == v1alpha1.NotificationPending:
			waiting++
		}
	}
	return troubles, failed, waiting
}

// setDelivered says how the delivery of notifications goes, the last ones of the named run. Without any, there is no
// such condition.
func setDelivered(cleaner *v1alpha1.Cleaner, notifications []v1alpha1.NotificationStatus, run string) {
	all := len(notifications)
	if len(cleaner.Spec.Notifications) == 0 && all == 0 {
		meta.RemoveStatusCondition(&cleaner.Status.Conditions, v1alpha1.ConditionNotificationsDelivered)
		return
	}
	troubles, failed, waiting := troublesOf(notifications)
	status, reason, message := metav1.ConditionTrue, v1alpha1.ReasonDelivered,
		"Every notification of the last run was delivered."
	switch pending := len(troubles) - failed; {
	case failed > 0 && pending > 0:
		status, reason = metav1.ConditionFalse, v1alpha1.ReasonUndelivered
		message = fmt.Sprintf("%d of %d notifications could not be delivered, and %d not yet: %s", failed, all, pending, inWords(troubles))
	case failed > 0:
		status, reason = metav1.ConditionFalse, v1alpha1.ReasonUndelivered
		message = fmt.Sprintf("%d of %d notifications could not be delivered: %s", failed, all, inWords(troubles))
	case pending > 0:
		status, reason = metav1.ConditionFalse, v1alpha1.ReasonDelivering
		message = fmt.Sprintf("%d of %d notifications could not be delivered yet: %s", pending, all, inWords(troubles))
	case waiting > 0:
		status, reason = metav1.ConditionUnknown, v1alpha1.ReasonDelivering
		message = fmt.Sprintf("%d of %d notifications are being sent.", waiting, all)
	case all == 0:
		message = "The last run had no notification to send."
	}
	if len(message) > maxStatusMessage {
		rest := " All reasons: kubectl describe cleanerrun " + run
		message = v1alpha1.Truncate(message, maxStatusMessage-len(rest)) + rest
	}
	setCondition(cleaner, v1alpha1.ConditionNotificationsDelivered, status, reason, message)
}

// trouble is a notification that was not delivered, and why.
type trouble struct{ notification, cause string }

// inWords describes all of them. The names of several come first: there need not be room for all causes.
func inWords(troubles []trouble) string {
	var names, causes []string
	for _, t := range troubles {
		names, causes = append(names, t.notification), append(causes, t.notification+": "+t.cause)
	}
	text := strings.Join(causes, ". ")
	if len(troubles) > 1 {
		text = strings.Join(names, ", ") + ". " + text
	}
	return text
}
