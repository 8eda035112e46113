// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package notify sends what a run did, on the channels that people chose. A channel that fails never fails the run or
// another channel.
//
// Every message is made from the Cleaner and the record of the run alone, so that it can be made again after a restart:
// report puts into words what happened, each channel's file renders that for its service, and call is how all of them
// reach it.
package notify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// Message is what a notification says about a run.
type Message struct {
	Cleaner *v1alpha1.Cleaner
	Run     *v1alpha1.CleanerRun
	// Notification is the name of the notification that is sent: a run may have several to the same service.
	Notification string
	// Outcomes are all the objects of the run, those too that the record had no room for. Only the channel Event looks at
	// them.
	Outcomes []stage.Outcome
	// Test is set for a sample, of which every service says that it is one.
	Test bool
	// page is where people find the run on the page. Empty when the operator does not know the address of the page.
	page string
}

// Channel delivers a message, or says why it could not.
type Channel func(ctx context.Context, message Message) error

// Settings are what the Secret of a notification holds.
type Settings struct {
	// Secret is its namespace and name, as errors write it: "team-a/slack".
	Secret string
	Keys   map[string][]byte
	// Limited, unless it is empty, is the namespace of the Secret, of which alone private addresses may be Services: the
	// Secret is one that the Cleaner's author may have written, and its ServiceAccount has fewer rights than the operator.
	Limited string
}

// Send delivers a message by the settings. The error is an *Error, and holds nothing of what the Secret does.
type Send func(ctx context.Context, settings Settings, message Message) error

// New returns what delivers messages of a type. It is nil for a type that needs no Secret, or that nobody knows.
func (s *Sender) New(kind v1alpha1.NotificationType) Send {
	channel, ok := channelOf(kind)
	if !ok {
		return nil
	}
	return func(ctx context.Context, settings Settings, message Message) error {
		values, err := channel.read(settings)
		if err == nil {
			err = s.deliver(ctx, channel, values, settings.Limited, message)
		}
		if err == nil {
			return nil
		}
		return values.redact(err)
	}
}

// Check says what is wrong with the settings of a channel, as far as that shows without sending anything.
func Check(kind v1alpha1.NotificationType, settings Settings) error {
	channel, ok := channelOf(kind)
	if !ok {
		return nil
	}
	values, err := channel.read(settings)
	if err == nil {
		return nil
	}
	return values.redact(err)
}

// deliver sends one message. The libraries of the services see answers that anybody may have written: if one panics,
// the message has failed.
func (s *Sender) deliver(ctx context.Context, channel channel, values values, limited string, message Message) error {
	err := fault.Caught(func() error {
		c := &call{sender: s, guard: s.guard}
		c.guard.Namespace = limited
		message.page = s.pageOf(message)
		return channel.send(ctx, c, values, newReport(message, values.hide))
	})
	var p *fault.Error
	if !errors.As(err, &p) {
		return err
	}
	klog.FromContext(ctx).
		Info("A notification panicked", "panic", values.mask(fmt.Sprint(p.Value)), "stack", values.mask(string(p.Stack)))
	return permanent(fault.Words)
}

// pageOf is where people find a run on the page: what a plan waits for is decided on a page of its own. The run of a
// sample does not exist, but its Cleaner does.
func (s *Sender) pageOf(message Message) string {
	kind, name := "runs", message.Run.Name
	switch {
	case s.Page == "":
		return ""
	case message.Test:
		kind, name = "cleaners", message.Run.Spec.Cleaner
	case message.Run.Status.Phase == v1alpha1.RunAwaitingApproval:
		kind = "plans"
	}
	return strings.TrimSuffix(s.Page, "/") + "/" + kind + "/" + url.PathEscape(name)
}

// channelOf returns the channel of a type.
func channelOf(kind v1alpha1.NotificationType) (channel, bool) {
	switch kind {
	case v1alpha1.NotificationSlack:
		return slackChannel(), true
	case v1alpha1.NotificationWebex:
		return webexChannel(), true
	case v1alpha1.NotificationDiscord:
		return discordChannel(), true
	case v1alpha1.NotificationTeams:
		return teamsChannel(), true
	case v1alpha1.NotificationTelegram:
		return telegramChannel(), true
	case v1alpha1.NotificationSMTP:
		return smtpChannel(), true
	case v1alpha1.NotificationWebhook:
		return webhookChannel(), true
	}
	return channel{}, false
}

// id identifies a notification, also when it is sent again: the run's UID, and a hash of the notification's name, which
// fits any header.
func (m Message) id() string {
	id := cmp.Or(string(m.Run.UID), url.PathEscape(m.Run.Name))
	if m.Notification == "" {
		return id
	}
	sum := sha256.Sum256([]byte(m.Notification))
	return id + "-" + hex.EncodeToString(sum[:6])
}

// Listed are the outcomes that the record lists, without the objects' bytes.
func (m Message) Listed() []stage.Outcome {
	outcomes := make([]stage.Outcome, 0, len(m.Run.Status.Objects))
	for _, entry := range m.Run.Status.Objects {
		outcome := stage.Outcome{Result: entry.Outcome, Detail: entry.Reason}
		outcome.Kind.GroupVersionKind = schema.FromAPIVersionAndKind(entry.APIVersion, entry.Kind)
		outcome.Namespace, outcome.Name, outcome.UID, outcome.Message = entry.Namespace, entry.Name, entry.UID, entry.Message
		outcomes = append(outcomes, outcome)
	}
	return outcomes
}
