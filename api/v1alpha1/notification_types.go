// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// NotificationType is a channel on which the result of a run is told.
// +kubebuilder:validation:Enum=CleanerReport;Event;Slack;Webex;Discord;Teams;Telegram;SMTP;Webhook
type NotificationType string

const (
	// NotificationCleanerReport writes the result of each run into the Report of the Cleaner's name.
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

// Notification is a channel on which the result of a run is told.
// +kubebuilder:validation:XValidation:rule="!(self.type in ['Slack', 'Webex', 'Discord', 'Teams', 'Telegram', 'SMTP', 'Webhook']) || (has(self.notificationRef) && has(self.notificationRef.namespace) && size(self.notificationRef.namespace) > 0 && has(self.notificationRef.name) && size(self.notificationRef.name) > 0)",message="this type needs notificationRef, with the namespace and the name of the Secret that holds its settings"
type Notification struct {
	// name identifies the notification within the Cleaner, for example "report".
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// type is the channel. CleanerReport writes the Report of the Cleaner's name, rewritten by every run; Event records an
	// Event on each object that was handled; Slack, Webex, Discord, Teams, Telegram, SMTP (a mail) and Webhook (a POST of
	// JSON) send a message. All but CleanerReport tell only runs in which something matched.
	// +required
	Type NotificationType `json:"type"`

	// notificationRef names the Secret with the settings of the channel, by namespace and name. CleanerReport and Event
	// need none.
	// +optional
	NotificationRef *NotificationRef `json:"notificationRef,omitempty"`
}

// NotificationRef names a Secret.
type NotificationRef struct {
	// apiVersion is the group and version of what is named: "v1".
	// +optional
	// +kubebuilder:validation:MaxLength=317
	APIVersion string `json:"apiVersion,omitempty"`

	// kind is the kind of what is named: "Secret".
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind,omitempty"`

	// namespace is the namespace of the Secret.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name is the name of the Secret.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}
