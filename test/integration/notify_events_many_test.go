// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
)

// Events that could not be written are written later, and no other one twice, also of objects that the record does not list.
func TestEventsAreWrittenInTheEnd(t *testing.T) {
	t.Parallel()
	const n = 40
	b := newBench(t)
	p := b.post()
	p.outbox.Deliver, b.runner.Delivery.Outbox = b.runner.Delivery.Deliver, p.outbox.Notify
	b.configMaps(b.namespace, "old", n)
	var asked atomic.Int32
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/events") && asked.Add(1) > n/4 {
			return nil, errors.New("connection reset by peer")
		}
		return nil, nil
	})
	c := b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationEvent))
	run := b.run(c)
	must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(run), run))
	p.wait(c)
	entry := p.entry(run, "Event")
	wantTexts(t, "the reason", entry.Message, fmt.Sprintf("%d Events could not be written; the first, on ConfigMap %s/old-", n-n/4, b.namespace), "the API server did not answer")
	if entry.State != v1alpha1.NotificationPending || len(b.objectEvents(c)) != n/4 {
		t.Fatalf("it is %+v, with %d Events", entry, len(b.objectEvents(c)))
	}
	b.requests.setMeddle(nil)
	before := b.requests.count(http.MethodPost, "/events")
	must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(run), run))
	run.Status.ObjectsOmitted, run.Status.Objects = n, nil // as if there were too many
	must(t, b.user.Status().Update(t.Context(), run))
	p.step(time.Minute)
	p.wait(c)
	if entry = p.entry(run, "Event"); entry.State != v1alpha1.NotificationDelivered || entry.Attempts != 2 {
		t.Fatalf("it is %+v", entry)
	}
	if got, sent := len(b.objectEvents(c)), b.requests.count(http.MethodPost, "/events")-before; got != n || sent != n-n/4 {
		t.Fatalf("there are %d Events, after %d requests", got, sent)
	}
}

// An operator that comes after the run writes the Events that are missing, and says when the record does not list all objects.
func TestEventsAfterARestart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 5)
	c := b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationEvent))
	run := b.run(c)
	message := notify.Message{Cleaner: c, Run: run, Notification: "Event"}
	for range 2 {
		must(t, b.runner.Delivery.Deliver(t.Context(), message, c.Spec.Notifications[0]))
		if got := len(b.objectEvents(c)); got != 5 {
			t.Fatalf("there are %d Events", got)
		}
	}
	run.Status.ObjectsOmitted, run.Status.Skipped = 7, 7 // they were left alone, and need no Event
	must(t, b.runner.Delivery.Deliver(t.Context(), message, c.Spec.Notifications[0]))
	run.Status.Acted += 7
	var failure *notify.Error
	b.refusing(http.MethodPost, "/events", "connection reset by peer")
	if err := b.runner.Delivery.Deliver(t.Context(), message, c.Spec.Notifications[0]); !errors.As(err, &failure) || failure.Permanent {
		t.Fatalf("it says %v", err)
	}
	b.requests.setMeddle(nil)
	err := b.runner.Delivery.Deliver(t.Context(), message, c.Spec.Notifications[0])
	if !errors.As(err, &failure) || !failure.Permanent || !strings.Contains(failure.Reason, "perhaps the Events of 7 more objects were not written") {
		t.Fatalf("it says %v", err)
	}
}

// A panic while Events are written is a failure of theirs.
func TestPanicInEvents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.runner.Delivery.Event = func(context.Context, notify.Message) error { fault(); return nil }
	c := b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationEvent))
	err := b.runner.Delivery.Deliver(t.Context(), notify.Message{Cleaner: c, Run: b.run(c), Notification: "Event"}, c.Spec.Notifications[0])
	if err == nil || !strings.Contains(err.Error(), "a fault of KubeCleaner") {
		t.Fatalf("it says %v", err)
	}
}

// A namespace that is being deleted takes no Events: that is said, and not tried again.
func TestEventsInANamespaceThatEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old", func(cm *corev1.ConfigMap) { cm.Finalizers = []string{"example.com/hold"} })
	c := b.cleaner(v1alpha1.ActionScan, notifying(v1alpha1.NotificationEvent))
	run := b.run(c)
	must(t, b.user.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}))
	err := b.runner.Delivery.Deliver(t.Context(), notify.Message{Cleaner: c, Run: run, Notification: "Event"}, c.Spec.Notifications[0])
	var failure *notify.Error
	if !errors.As(err, &failure) || !failure.Permanent || !strings.Contains(failure.Reason, "namespace "+b.namespace+" is gone, or is being deleted, and takes no Events") {
		t.Fatalf("it says %v", err)
	}
}

// Events that do not come to an end delay neither the run nor another channel.
func TestEventsThatHang(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.sends()
	good := newReceiver(t, http.StatusOK)
	b.configMap("old")
	at := newBarrier(t)
	b.holdRequests(at, http.MethodPost, "/events")
	c := b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationEvent), b.webhookTo("good", good.URL))
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted)
	at.await(1)
	must(t, wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return len(good.got()) == 1, nil
	}))
	at.open()
}
