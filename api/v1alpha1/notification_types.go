// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NotifyOn is an occasion on which a notification is sent.
// +kubebuilder:validation:Enum=Matches;Changes;Failures;Always
type NotifyOn string

const (
	// NotifyOnMatches is a run in which something matched.
	NotifyOnMatches NotifyOn = "Matches"
	// NotifyOnChanges is a run that deleted or changed something.
	NotifyOnChanges NotifyOn = "Changes"
	// NotifyOnFailures is a run that did not do all it was asked to do.
	NotifyOnFailures NotifyOn = "Failures"
	// NotifyOnAlways is every run.
	NotifyOnAlways NotifyOn = "Always"
)

// NotificationState is how far the delivery of a notification has come.
type NotificationState string

const (
	// NotificationPending is to be sent, for the first time or again.
	NotificationPending NotificationState = "Pending"
	// NotificationDelivered was accepted by the service.
	NotificationDelivered NotificationState = "Delivered"
	// NotificationFailed was given up.
	NotificationFailed NotificationState = "Failed"
)

// NotificationStatus is how the delivery of one of a run's notifications goes.
type NotificationStatus struct {
	// name is the notification's name in the Cleaner.
	// +required
	Name string `json:"name"`

	// type is the notification's type, for example Slack.
	// +required
	Type NotificationType `json:"type"`

	// state is Pending, Delivered or Failed.
	// +required
	State NotificationState `json:"state"`

	// attempts is how often it was tried to send it.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`

	// nextAttemptTime is not before when it is tried again. Absent when it is tried at once, or not any more.
	// +optional
	NextAttemptTime *metav1.Time `json:"nextAttemptTime,omitempty"`

	// message says why it was not delivered, and the way out.
	// +optional
	Message string `json:"message,omitempty"`
}

// Occasions are those on which the notification is sent: without notifyOn, every run for a Report, which k8s-cleaner rewrites
// each time, and otherwise, as with k8s-cleaner, a run in which something matched.
func (n *Notification) Occasions() []NotifyOn {
	switch {
	case len(n.NotifyOn) > 0:
		return n.NotifyOn
	case n.Type == NotificationCleanerReport:
		return []NotifyOn{NotifyOnAlways}
	}
	return []NotifyOn{NotifyOnMatches}
}

// IsDue reports whether the notification is to be sent of a run that has ended.
func (n *Notification) IsDue(run *CleanerRun) bool {
	for _, occasion := range n.Occasions() {
		switch {
		case occasion == NotifyOnAlways,
			occasion == NotifyOnMatches && run.Status.Matched > 0,
			occasion == NotifyOnChanges && run.Status.Acted > 0,
			occasion == NotifyOnFailures && run.Status.Phase != RunCompleted:
			return true
		}
	}
	return false
}

// HasPendingNotifications reports whether something of the run is still to be told.
func (r *CleanerRun) HasPendingNotifications() bool {
	for i := range r.Status.Notifications {
		if r.Status.Notifications[i].State == NotificationPending {
			return true
		}
	}
	return false
}
