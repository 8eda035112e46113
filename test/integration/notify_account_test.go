// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
)

// wantNotNotified fails the test if a service got anything, or a Secret or a Report of the test read or written.
func (b *bench) wantNotNotified(service *receiver, c *v1alpha1.Cleaner) {
	b.t.Helper()
	reads := b.requests.count(http.MethodGet, "/secrets/hook")
	reports := b.requests.count(http.MethodPost, "/reports") + b.requests.count(http.MethodPatch, "/reports/"+c.Name)
	if len(service.got()) > 0 || reads > 0 || reports > 0 {
		b.t.Errorf("the service got %q; the Secret was read %d times, and a Report written %d times", service.got(), reads, reports)
	}
}

// A run that lacks the account that it needs notifies nobody: its Secret would be read with the operator's rights.
func TestRunWithoutItsAccountNotifiesNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t, requireAccount)
	b.sends()
	service := newReceiver(t, http.StatusOK)
	b.configMap("one")
	c := b.cleaner(v1alpha1.ActionDelete, b.webhookTo("hook", service.URL), notifying(v1alpha1.NotificationCleanerReport), notifying(v1alpha1.NotificationEvent), func(c *v1alpha1.Cleaner) {
		for i := range c.Spec.Notifications {
			c.Spec.Notifications[i].NotifyOn = []v1alpha1.NotifyOn{v1alpha1.NotifyOnAlways}
		}
	})
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonServiceAccountRequired, lacksAccount)
	if left := b.stored(run).Status.Notifications; len(left) > 0 {
		t.Errorf("the record has %+v to send", left)
	}
	b.wantNotNotified(service, c)
	// Nor does one notify that ended before the flag was there.
	run.Spec.ServiceAccountRef = nil
	b.wantNotDelivered(c, run, "it was not sent: the run named no ServiceAccount, and the operator runs with --require-service-account")
	b.wantNotNotified(service, c)
}

// wantNotDelivered hands the first notification of a Cleaner to the sender, as the outbox does.
func (b *bench) wantNotDelivered(c *v1alpha1.Cleaner, run *v1alpha1.CleanerRun, want string) {
	b.t.Helper()
	err := b.runner.Delivery.Deliver(b.t.Context(), notify.Message{Cleaner: c, Run: run, Notification: "hook"}, c.Spec.Notifications[0])
	var failure *notify.Error
	if !errors.As(err, &failure) || !failure.Permanent || !strings.Contains(failure.Reason, want) {
		b.t.Errorf("the error is %v, want %q", err, want)
	}
}

// What a run found with one account's rights is not sent with the Secrets of another, nor are these read with the first one's rights.
func TestNothingIsSentWhenTheAccountChanged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.sends()
	service := newReceiver(t, http.StatusOK)
	const changed = "it was not sent: serviceAccountRef was changed after the run"
	asOperator := b.cleaner(v1alpha1.ActionScan)
	asAccount := b.cleaner(v1alpha1.ActionScan, b.account(may("configmaps", "list")))
	runs := map[*v1alpha1.Cleaner]*v1alpha1.CleanerRun{asOperator: b.run(asOperator), asAccount: b.run(asAccount)}
	hook := b.webhookTo("hook", service.URL)
	for c, account := range map[*v1alpha1.Cleaner]func(*v1alpha1.Cleaner){
		asOperator: naming(b.namespace, "cleaner"), asAccount: func(c *v1alpha1.Cleaner) { c.Spec.ServiceAccountRef = nil },
	} {
		edit(b, c, func(c *v1alpha1.Cleaner) { hook(c); account(c) })
		b.wantNotDelivered(c, runs[c], changed)
		b.wantNotNotified(service, c)
	}
	edit(b, asAccount, naming(b.namespace, "other"))
	b.wantNotDelivered(asAccount, runs[asAccount], changed)
	b.wantNotNotified(service, asAccount)
}

// A run that waits for its turn was asked for as one account, and does not begin as another.
func TestQueuedRunEndsWhenTheAccountChanges(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, b.account(may("configmaps", "list", "delete"))))
	first := l.first()
	l.at(first)
	l.wantActive(first)
	edit(b, b.get(l.now.Name), func(c *v1alpha1.Cleaner) { c.Spec.ServiceAccountRef = nil })
	l.startExecutor()
	l.at(first.Add(time.Second))
	l.finish()
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed, "Nothing was read or touched: serviceAccountRef was changed after the run was queued")
	if !b.exists("old") {
		t.Error("the run touched something with the operator's rights")
	}
}
