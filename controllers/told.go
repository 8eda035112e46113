// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// told is one call of Told. It has a size, so that each is another.
type told struct{ _ byte }

// Told is called when the delivery of what a run of the named Cleaner has to tell has changed.
func (r *CleanerReconciler) Told(name string) {
	r.told.Store(name, new(told))
	r.Finished(name)
}

// foldDelivery brings the condition NotificationsDelivered up to date with the record of the last run.
func (r *CleanerReconciler) foldDelivery(ctx context.Context, cleaner *v1alpha1.Cleaner, round *round) error {
	told, changed := r.told.Load(cleaner.Name)
	if !changed {
		return nil
	}
	round.told = told
	if cleaner.Status.LastRun == nil {
		return nil
	}
	run, err := r.Journal.Find(ctx, cleaner.Status.LastRun.Name)
	switch {
	case err != nil:
		return err
	case run != nil && run.Spec.CleanerUID == cleaner.UID && run.Status.Phase.Final():
		setDelivered(cleaner, run)
	}
	return nil
}

// setDelivered says how the delivery of the last run's notifications goes. Without any, there is no such condition.
func setDelivered(cleaner *v1alpha1.Cleaner, run *v1alpha1.CleanerRun) {
	all := len(run.Status.Notifications)
	if len(cleaner.Spec.Notifications) == 0 && all == 0 {
		meta.RemoveStatusCondition(&cleaner.Status.Conditions, v1alpha1.ConditionNotificationsDelivered)
		return
	}
	var failed, pending []string
	waiting := 0
	for _, n := range run.Status.Notifications {
		switch {
		case n.State == v1alpha1.NotificationFailed:
			failed = append(failed, fmt.Sprintf("%s (%s): %s", n.Name, n.Type, n.Message))
		case n.State == v1alpha1.NotificationPending && n.Attempts > 0:
			pending = append(pending, fmt.Sprintf("%s (%s): %s; tried again at %s", n.Name, n.Type, n.Message, n.NextAttemptTime.UTC().Format(time.RFC3339)))
		case n.State == v1alpha1.NotificationPending:
			waiting++
		}
	}
	status, reason, message := metav1.ConditionTrue, v1alpha1.ReasonDelivered, "Every notification of the last run was delivered."
	switch {
	case len(failed) > 0:
		status, reason = metav1.ConditionFalse, v1alpha1.ReasonUndelivered
		message = fmt.Sprintf("%d of %d notifications could not be delivered: %s", len(failed), all, failed[0])
	case len(pending) > 0:
		status, reason = metav1.ConditionFalse, v1alpha1.ReasonDelivering
		message = fmt.Sprintf("%d of %d notifications could not be delivered yet: %s", len(pending), all, pending[0])
	case waiting > 0:
		status, reason = metav1.ConditionUnknown, v1alpha1.ReasonDelivering
		message = fmt.Sprintf("%d of %d notifications are being sent.", waiting, all)
	case all == 0:
		message = "The last run had nothing to tell."
	}
	setCondition(cleaner, v1alpha1.ConditionNotificationsDelivered, status, reason, v1alpha1.Truncate(message, maxStatusMessage))
}
