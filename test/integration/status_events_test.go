// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

// TestOneEventPerRun comes after the status was written, about the Cleaner and related to the CleanerRun.
func TestOneEventPerRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete)).slim()
	l.startExecutor()
	l.events.onEvent = func(e event) {
		if stored := l.get(l.now.Name); stored.Status.LastRun == nil || stored.Status.LastRun.Name != e.related.GetName() {
			t.Errorf("the Event came before the status: %+v", stored.Status.LastRun)
		}
	}
	l.at(l.first())
	l.finish()
	l.step()
	l.step()
	events := l.events.take()
	if len(events) != 1 {
		t.Fatalf("%d Events came: %+v", len(events), events)
	}
	e, record := events[0], l.records()[0]
	if e.regarding.GetUID() != l.now.UID || e.related.GetName() != record.Name || e.related.GetUID() != record.UID {
		t.Fatalf("the Event is about %s and %s", e.regarding.GetName(), e.related.GetName())
	}
	if e.kind != corev1.EventTypeNormal || e.reason != v1alpha1.ReasonCompleted || e.action != "Delete" || e.note != record.Status.Message {
		t.Fatalf("the Event is %+v", e)
	}
}

func TestEventOfARunThatFailed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("one")
	b.configMap("two")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) {
		c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: new(int32(1))}
	}))
	l.startExecutor()
	l.at(l.first())
	l.finish()
	events := l.events.take()
	if len(events) != 1 || events[0].kind != corev1.EventTypeWarning || events[0].reason != v1alpha1.ReasonLimitExceeded {
		t.Fatalf("the Events are %+v", events)
	}
	wantTexts(t, "the note", events[0].note, "Nothing was touched: blast radius limit exceeded: 2 resources matched (max count 1)")
}

// TestStatusWriteThatLosesARace is repeated with fresh eyes: the run counts and is reported once.
func TestStatusWriteThatLosesARace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	l.startExecutor()
	first := l.first()
	l.at(first)
	l.waitFinished(l.now)
	b.beforeFirst(http.MethodPatch, "/"+l.now.Name+"/status", func() { l.ask("meanwhile") })
	l.step()
	l.wantEvents() // nothing of what follows the write
	if l.again <= 0 || l.now.Status.LastRun != nil {
		t.Fatalf("the write went through, or is not repeated (%s)", l.again)
	}
	l.at(first.Add(time.Second))
	l.wantEvents("Completed", "")
	l.finish() // the one that was asked for
	l.wantEvents("Completed", "")
	l.wantRecords(first, first.Add(time.Second))
}

// TestStatusWriteThatFails starts no run: what was not written down does not begin.
func TestStatusWriteThatFails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	l.step()
	var down atomic.Bool
	down.Store(true)
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPatch || !down.Load() {
			return nil, nil
		}
		return refusal(t, r, apierrors.NewInternalError(http.ErrServerClosed)), nil
	})
	b.clock.SetTime(l.first())
	if _, err := l.reconciler.Reconcile(t.Context(), request(l.now.Name)); !apierrors.IsInternalError(err) {
		t.Fatalf("the error is %v", err)
	}
	if active, ok := l.executor.Active(l.now.Name); ok {
		t.Fatalf("a run began without a status: %+v", active)
	}
	down.Store(false)
	l.startExecutor()
	l.step()
	l.finish()
	l.wantRecords(l.first())
}

func TestNotificationsDelivered(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionScan, notifying(v1alpha1.NotificationCleanerReport))).slim()
	l.startExecutor()
	report := "/apis/apps.projectsveltos.io/v1alpha1/reports/" + l.now.Name
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPatch || r.URL.Path != report {
			return nil, nil
		}
		return forbidden(t, r, "reports", "the-report"), nil
	})
	l.at(l.first())
	l.finish()
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted) // a channel never fails the run
	wantCondition(t, l.now, v1alpha1.ConditionNotificationsDelivered, "False", v1alpha1.ReasonDelivering,
		"1 of 1 notifications could not be delivered yet: CleanerReport (CleanerReport): ", `reports "the-report" is forbidden: User "operator" cannot do that to resource "reports": not for you`)
	b.requests.setMeddle(nil)
	l.at(l.first().Add(day))
	l.finish()
	wantCondition(t, l.now, v1alpha1.ConditionNotificationsDelivered, "True", v1alpha1.ReasonDelivered, "Every notification of the last run was delivered.")
	l.change(func(c *v1alpha1.Cleaner) { c.Spec.Notifications = nil })
	l.at(l.first().Add(2 * day))
	l.finish()
	if condition := meta.FindStatusCondition(l.now.Status.Conditions, v1alpha1.ConditionNotificationsDelivered); condition != nil {
		t.Fatalf("there is nothing to deliver, and the condition is %+v", condition)
	}
}

// TestDryRunIsShownEverywhere: with --dry-run every Cleaner acts as Scan.
func TestDryRunIsShownEverywhere(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(s *settings) { s.off = stop.Fixed(v1alpha1.DryRunByFlag) })
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete)).slim()
	l.startExecutor()
	l.at(l.first())
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled, "The operator runs with --dry-run: nothing is touched.")
	l.finish()
	last := l.now.Status.LastRun
	if l.now.Status.Action != v1alpha1.ActionScan || last.Action != v1alpha1.ActionScan || !last.DryRun || last.Matches[0].Outcome != v1alpha1.OutcomeDryRun {
		t.Fatalf("the status is %+v", l.now.Status)
	}
	l.wantEvents("Completed", "nothing was touched, because the operator runs with --dry-run.")
	if !b.exists("old") || deletes(l) != 0 {
		t.Fatal("a dry run deleted something")
	}
}
