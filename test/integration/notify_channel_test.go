// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/egress"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
)

// receiver is a service on loopback that keeps what is posted to it.
type receiver struct {
	*httptest.Server
	mutex  sync.Mutex
	bodies []string
}

func newReceiver(t *testing.T, status int) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		r.mutex.Lock()
		defer r.mutex.Unlock()
		r.bodies = append(r.bodies, string(body))
		w.WriteHeader(status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) got() []string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.Clone(r.bodies)
}

// webhookTo adds a notification of type Webhook whose Secret, in the test's namespace, has the name and holds the address.
func (b *bench) webhookTo(name, address string) func(*v1alpha1.Cleaner) {
	b.t.Helper()
	if address != "" {
		must(b.t, b.user.Create(b.t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}, StringData: map[string]string{"WEBHOOK_URL": address},
		}))
	}
	return func(c *v1alpha1.Cleaner) {
		c.Spec.Notifications = append(c.Spec.Notifications, v1alpha1.Notification{
			Name: name, Type: v1alpha1.NotificationWebhook, NotificationRef: &v1alpha1.NotificationRef{APIVersion: "v1", Kind: "Secret", Namespace: b.namespace, Name: name},
		})
	}
}

// sends makes the bench send notifications as the operator does, and returns how those of a run went, when each was tried.
func (b *bench) sends() (tried func(run *v1alpha1.CleanerRun) map[string]v1alpha1.NotificationStatus) {
	b.t.Helper()
	b.runner.Delivery.Sender = notify.NewSender(nil, nil, egress.NewGuard(egress.Hosts{"127.0.0.1": true}, env.Config.Host), clock.RealClock{})
	outbox := &notify.Outbox{Run: b.runner.Record.Journal.Find, Cleaner: b.runner.Record.Journal.Cleaner, Client: b.live, Clock: clock.RealClock{}, Deliver: b.runner.Delivery.Deliver, Changed: func(string) {}, Tried: b.runner.Record.Metrics.Notified}
	b.runner.Delivery.Outbox = outbox.Notify
	ctx, stop := context.WithCancel(b.t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { must(b.t, outbox.Start(ctx)) })
	b.t.Cleanup(func() { stop(); ended.Wait() })
	return func(run *v1alpha1.CleanerRun) map[string]v1alpha1.NotificationStatus {
		b.t.Helper()
		entries := map[string]v1alpha1.NotificationStatus{}
		must(b.t, wait.PollUntilContextTimeout(b.t.Context(), 20*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
			var live v1alpha1.CleanerRun
			if err := b.user.Get(ctx, client.ObjectKeyFromObject(run), &live); err != nil {
				return false, err
			}
			for _, entry := range live.Status.Notifications {
				if entry.Attempts == 0 {
					return false, nil
				}
				entries[entry.Name] = entry
			}
			return true, nil
		}))
		return entries
	}
}

// Every channel is notified on its own: one that fails, or has no Secret, does not stop the next one or the run.
func TestChannelsAreNotified(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tried := b.sends()
	good, bad := newReceiver(t, http.StatusOK), newReceiver(t, http.StatusForbidden)
	b.configMap("one", stale)
	c := b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale),
		b.webhookTo("absent", ""), b.webhookTo("bad", bad.URL+"/secret-path"), b.webhookTo("good", good.URL+"/secret-path"), notifying(v1alpha1.NotificationCleanerReport))
	run := b.run(c)
	if run.Status.Phase != v1alpha1.RunCompleted {
		t.Fatalf("the run is %+v", run.Status)
	}
	got := tried(run)
	for name, want := range map[string]v1alpha1.NotificationStatus{
		"absent":        {State: v1alpha1.NotificationFailed, Message: "there is no Secret " + b.namespace + "/absent, which notificationRef names"},
		"bad":           {State: v1alpha1.NotificationFailed, Message: "the service answered 403 Forbidden; check WEBHOOK_URL in Secret " + b.namespace + "/bad"},
		"good":          {State: v1alpha1.NotificationDelivered},
		"CleanerReport": {State: v1alpha1.NotificationDelivered},
	} {
		if got[name].State != want.State || got[name].Message != want.Message || got[name].Attempts != 1 {
			t.Errorf("%s is %+v, want %+v", name, got[name], want)
		}
	}
	if len(good.got()) != 1 || len(bad.got()) != 1 {
		t.Fatalf("the good one got %v, the bad one %v", good.got(), bad.got())
	}
	var document notify.Document
	must(t, json.Unmarshal([]byte(good.got()[0]), &document))
	if document.Title != "Cleaner "+c.Name+": 1 deleted" || document.RunUID != string(run.UID) || len(document.Objects) != 1 || document.Objects[0].Name != "one" {
		t.Errorf("the message is %+v", document)
	}
}

// A run in which nothing matched sends nothing, unless the Cleaner asks for that.
func TestChannelsAreNotNotifiedOfNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tried := b.sends()
	service := newReceiver(t, http.StatusOK)
	c := b.cleaner(v1alpha1.ActionScan, b.webhookTo("hook", service.URL), b.webhookTo("always", service.URL), func(c *v1alpha1.Cleaner) {
		c.Spec.Notifications[1].NotifyOn = []v1alpha1.NotifyOn{v1alpha1.NotifyOnAlways}
	})
	got := tried(b.run(c))
	if len(got) != 1 || got["always"].State != v1alpha1.NotificationDelivered || len(service.got()) != 1 || !strings.Contains(service.got()[0], c.Name+": 0 matched") {
		t.Errorf("the entries are %+v; it got %v", got, service.got())
	}
}

// A Cleaner that names an account notifies no private address of which its Secret's namespace has no Service.
func TestAccountsReachNoPrivateAddress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tried := b.sends()
	b.configMap("one")
	b.allow(b.accountName(), b.namespace, may("secrets", "get"))
	c := b.cleaner(v1alpha1.ActionScan, b.webhookTo("hook", "http://10.1.2.3:8080"), b.account(may("configmaps", "list")))
	got := tried(b.run(c))["hook"]
	if got.State != v1alpha1.NotificationFailed || !strings.Contains(got.Message, "the address is private, and the Cleaner names a ServiceAccount") ||
		!strings.Contains(got.Message, "--allowed-notification-hosts") {
		t.Errorf("the entry is %+v", got)
	}
}

// The Secret of a Cleaner that names an account is read with the account's rights.
func TestSecretIsReadAsTheAccount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tried := b.sends()
	service := newReceiver(t, http.StatusOK)
	b.configMap("one")
	c := b.cleaner(v1alpha1.ActionScan, b.webhookTo("hook", service.URL), b.account(may("configmaps", "get", "list")))
	run := b.run(c)
	want := "Let ServiceAccount " + b.namespace + "/cleaner get it: a Role in namespace " + b.namespace + " with verb get, resource secrets and resourceNames [hook], and a RoleBinding"
	got := tried(run)["hook"]
	if run.Status.Phase != v1alpha1.RunCompleted || len(service.got()) != 0 || got.State != v1alpha1.NotificationPending || !strings.Contains(got.Message, want) {
		t.Fatalf("the entry is %+v; it got %v; the run is %+v", got, service.got(), run.Status)
	}
	b.allow(b.accountName(), b.namespace, named(may("secrets", "get"), "hook"))
	if got = tried(b.run(c))["hook"]; got.State != v1alpha1.NotificationDelivered || len(service.got()) != 1 {
		t.Fatalf("the entry is %+v; it got %v", got, service.got())
	}
}
