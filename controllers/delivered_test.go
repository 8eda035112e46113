// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// A run without notifications does not make good what an earlier one could not send; one that delivered the same notification does.
func TestLatestOfEach(t *testing.T) {
	t.Parallel()
	const failed, pending, delivered = v1alpha1.NotificationFailed, v1alpha1.NotificationPending, v1alpha1.NotificationDelivered
	cleaner := &v1alpha1.Cleaner{}
	for _, name := range []string{"hook", "mail", "chat"} {
		cleaner.Spec.Notifications = append(cleaner.Spec.Notifications, v1alpha1.Notification{Name: name, Type: v1alpha1.NotificationWebhook})
	}
	entry := func(name string, state v1alpha1.NotificationState) v1alpha1.NotificationStatus {
		return v1alpha1.NotificationStatus{Name: name, Type: v1alpha1.NotificationWebhook, State: state}
	}
	run := func(name string, minute int, entries ...v1alpha1.NotificationStatus) v1alpha1.CleanerRun {
		run := v1alpha1.CleanerRun{}
		run.Name, run.Spec.NominalTime = name, metav1.NewTime(time.Unix(int64(60*minute), 0))
		run.Status.Notifications = entries
		return run
	}
	runs := []v1alpha1.CleanerRun{
		run("first", 1, entry("hook", failed), entry("mail", failed), entry("gone", failed)),
		run("third", 3, entry("chat", delivered)),
		run("second", 2, entry("hook", pending), entry("chat", failed)),
	}
	got := map[string]string{}
	for _, n := range latestOfEach(cleaner, []v1alpha1.NotificationStatus{entry("mail", delivered)}, runs) {
		got[n.Name] = string(n.State) + " " + n.Message
	}
	want := map[string]string{"mail": "Delivered ", "hook": "Pending of run second: ", "chat": "Delivered of run third: "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The condition names every notification that was not delivered, those first that are given up.
func TestConditionNamesAllThatFailed(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(time.Date(2026, 5, 1, 3, 0, 0, 0, time.UTC))
	failed := func(name string) v1alpha1.NotificationStatus {
		return v1alpha1.NotificationStatus{Name: name, Type: "Slack", State: v1alpha1.NotificationFailed, Attempts: 1, Message: "no such channel"}
	}
	pending := v1alpha1.NotificationStatus{Name: "mail", Type: "SMTP", State: v1alpha1.NotificationPending, Attempts: 1, Message: "refused", NextAttemptTime: &at}
	delivered := v1alpha1.NotificationStatus{Name: "hook", Type: "Webhook", State: v1alpha1.NotificationDelivered, Attempts: 1}
	long := failed("long")
	long.Message = strings.Repeat("x", 2000)
	for name, test := range map[string]struct {
		notifications []v1alpha1.NotificationStatus
		reason, want  string
	}{
		"one":       {[]v1alpha1.NotificationStatus{delivered, failed("chat")}, v1alpha1.ReasonUndelivered, "1 of 2 notifications could not be delivered: chat (Slack): no such channel"},
		"two":       {[]v1alpha1.NotificationStatus{failed("a"), delivered, failed("b")}, v1alpha1.ReasonUndelivered, "2 of 3 notifications could not be delivered: a (Slack), b (Slack). a (Slack): no such channel. b (Slack): no such channel"},
		"both":      {[]v1alpha1.NotificationStatus{pending, failed("chat")}, v1alpha1.ReasonUndelivered, "1 of 2 notifications could not be delivered, and 1 not yet: chat (Slack), mail (SMTP). chat (Slack): no such channel. mail (SMTP): refused; it will be tried again at 2026-05-01T03:00:00Z"},
		"later":     {[]v1alpha1.NotificationStatus{pending, delivered}, v1alpha1.ReasonDelivering, "1 of 2 notifications could not be delivered yet: mail (SMTP): refused; it will be tried again at 2026-05-01T03:00:00Z"},
		"long":      {[]v1alpha1.NotificationStatus{long}, v1alpha1.ReasonUndelivered, " All reasons: kubectl describe cleanerrun a-1"},
		"delivered": {[]v1alpha1.NotificationStatus{delivered}, v1alpha1.ReasonDelivered, "Every notification of the last run was delivered."},
	} {
		cleaner := &v1alpha1.Cleaner{}
		setDelivered(cleaner, test.notifications, "a-1")
		got := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionNotificationsDelivered)
		if name == "long" && got != nil && len(got.Message) <= maxStatusMessage && strings.HasSuffix(got.Message, test.want) {
			continue
		}
		if got == nil || got.Reason != test.reason || got.Message != test.want {
			t.Errorf("%s: the condition is %+v, want %s: %s", name, got, test.reason, test.want)
		}
	}
}

// TestDeliveryIsLookedAtOnceByEachProcess: the one before may have ended between the record and the status.
func TestDeliveryIsLookedAtOnceByEachProcess(t *testing.T) {
	t.Parallel()
	for status, want := range map[metav1.ConditionStatus]bool{
		"":                      false,
		metav1.ConditionTrue:    false,
		metav1.ConditionFalse:   true,
		metav1.ConditionUnknown: true,
	} {
		cleaner := &v1alpha1.Cleaner{}
		cleaner.UID = "u"
		if status != "" {
			setCondition(cleaner, v1alpha1.ConditionNotificationsDelivered, status, v1alpha1.ReasonDelivering, "")
		}
		r := assessor(nil)
		first := r.begin(cleaner)
		news := first.delivery
		first.memory.delivery.Store(nil)
		again := r.begin(cleaner).delivery
		if (news != nil) != want || again != nil {
			t.Errorf("%q: it is looked at: %t, and again: %t", status, news != nil, again != nil)
		}
	}
}
