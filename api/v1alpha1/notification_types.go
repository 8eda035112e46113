// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NotificationType is a channel that the result of a run is sent to.
// +kubebuilder:validation:Enum=CleanerReport;Event;Slack;Webex;Discord;Teams;Telegram;SMTP;Webhook
type NotificationType string

const (
	// NotificationCleanerReport writes the result of a run into the Report with the same name as the Cleaner.
	NotificationCleanerReport NotificationType = "CleanerReport"
	// NotificationEvent records one Event on each object that was handled.
	NotificationEvent NotificationType = "Event"
	// NotificationSlack posts to a channel of Slack.
	NotificationSlack NotificationType = "Slack"
	// NotificationWebex posts to a space of Webex.
	NotificationWebex NotificationType = "Webex"
	// NotificationDiscord posts to a channel of Discord.
	NotificationDiscord NotificationType = "Discord"
	// NotificationTeams posts a card to a channel of Microsoft Teams.
	NotificationTeams NotificationType = "Teams"
	// NotificationTelegram writes to a chat of Telegram.
	NotificationTelegram NotificationType = "Telegram"
	// NotificationSMTP sends a mail.
	NotificationSMTP NotificationType = "SMTP"
	// NotificationWebhook posts JSON to any address.
	NotificationWebhook NotificationType = "Webhook"
)

// NeedsSecret reports whether a notification of this type needs a notificationRef.
func (t NotificationType) NeedsSecret() bool {
	return t != NotificationCleanerReport && t != NotificationEvent // the rule of the API above says the same
}

// Notification is a channel that the result of a run is sent to.
// +kubebuilder:validation:XValidation:rule="self.type in ['CleanerReport', 'Event'] || !has(self.notificationRef) || ((!has(self.notificationRef.kind) || size(self.notificationRef.kind) == 0 || self.notificationRef.kind == 'Secret') && (!has(self.notificationRef.apiVersion) || size(self.notificationRef.apiVersion) == 0 || self.notificationRef.apiVersion == 'v1'))",message="notificationRef must name a Secret; write apiVersion: v1 and kind: Secret"
// +kubebuilder:validation:XValidation:rule="!(self.type in ['Slack', 'Webex', 'Discord', 'Teams', 'Telegram', 'SMTP', 'Webhook']) || (has(self.notificationRef) && has(self.notificationRef.namespace) && size(self.notificationRef.namespace) > 0 && has(self.notificationRef.name) && size(self.notificationRef.name) > 0)",message="this type needs notificationRef, with the namespace and the name of the Secret that holds its settings"
type Notification struct {
	// name identifies the notification within the Cleaner, for example "report".
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// type is the channel. CleanerReport writes the Report with the same name as the Cleaner; Event records an Event on
	// each object that was handled; Slack, Webex, Discord, Teams, Telegram, SMTP (a mail) and Webhook (a POST of JSON)
	// send a message.
	// +required
	Type NotificationType `json:"type"`

	// notifyOn says which runs are reported: Matches (something matched), Changes (something was deleted or changed, or
	// the run made a plan that waits for approval), Failures (the run did not do all it was asked to do), Always. You can
	// give several, for example [Changes, Failures]. Unset means Matches, and for CleanerReport Always.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	NotifyOn []NotifyOn `json:"notifyOn,omitempty"`

	// notificationRef names the Secret with the settings of the channel, by namespace and name. CleanerReport and Event
	// need none, and ignore it.
	// +optional
	NotificationRef *NotificationRef `json:"notificationRef,omitempty"`
}

// NotificationRef names a Secret.
type NotificationRef struct {
	// apiVersion must be "v1". Default "v1".
	// +optional
	// +kubebuilder:validation:MaxLength=317
	APIVersion string `json:"apiVersion,omitempty"`

	// kind must be "Secret". Default "Secret".
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind,omitempty"`

	// namespace is the namespace of the Secret.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	Namespace string `json:"namespace,omitempty"`

	// name is the name of the Secret.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-.a-z0-9]*[a-z0-9])?)?$`
	Name string `json:"name,omitempty"`
}

// NotifyOn is an occasion on which a notification is sent.
// +kubebuilder:validation:Enum=Matches;Changes;Failures;Always
type NotifyOn string

const (
	// NotifyOnMatches is a run in which something matched.
	NotifyOnMatches NotifyOn = "Matches"
	// NotifyOnChanges is a run that deleted or changed something, or made a plan that waits for approval.
	NotifyOnChanges NotifyOn = "Changes"
	// NotifyOnFailures is a run that did not do all it was asked to do.
	NotifyOnFailures NotifyOn = "Failures"
	// NotifyOnAlways is every run.
	NotifyOnAlways NotifyOn = "Always"
)

// NotificationRetention is for how long after the end of its run a notification is tried, and the record kept for it.
const NotificationRetention = 24 * time.Hour

// NotificationState is how far the delivery of a notification has come.
// +kubebuilder:validation:Enum=Pending;Delivered;Failed
type NotificationState string

const (
	// NotificationPending means that the notification is still to be sent, for the first time or again.
	NotificationPending NotificationState = "Pending"
	// NotificationDelivered means that the service accepted the notification.
	NotificationDelivered NotificationState = "Delivered"
	// NotificationFailed means that the operator stopped trying to send the notification.
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

	// attempts is how often the operator tried to send it. In each attempt, a request that failed with a temporary error
	// (429, 5xx) is sent up to three times.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`

	// nextAttemptTime is the earliest time of the next attempt. Absent when the next attempt is made at once, or when
	// there is none.
	// +optional
	NextAttemptTime *metav1.Time `json:"nextAttemptTime,omitempty"`

	// message says why it was not delivered, and what to do.
	// +optional
	Message string `json:"message,omitempty"`
}

// Occasions are those on which the notification is sent: without notifyOn, every run for a Report, which k8s-cleaner
// rewrites each time, and otherwise, as with k8s-cleaner, a run in which something matched.
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
			occasion == NotifyOnChanges && (run.Status.Acted > 0 || run.Status.Plan != nil),
			occasion == NotifyOnFailures && (!run.Status.Phase.Good() || run.Status.Plan != nil && run.Status.Failed > 0):
			return true
		}
	}
	return false
}

// HasPendingNotifications reports whether something of the run is still to be sent.
func (r *CleanerRun) HasPendingNotifications() bool {
	for i := range r.Status.Notifications {
		if r.Status.Notifications[i].State == NotificationPending {
			return true
		}
	}
	return false
}
