// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
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

// Every channel is told on its own: one that fails, or has no Secret, does not stop the next one or the run.
func TestChannelsAreTold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	good, bad := newReceiver(t, http.StatusOK), newReceiver(t, http.StatusForbidden)
	b.runner.Notify = notify.NewSender(nil, nil, clock.RealClock{})
	b.configMap("one", stale)
	c := b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale),
		b.webhookTo("absent", ""), b.webhookTo("bad", bad.URL+"/secret-path"), b.webhookTo("good", good.URL+"/secret-path"), notifying(v1alpha1.NotificationCleanerReport))
	run := b.run(c)
	if run.Status.Phase != v1alpha1.RunCompleted || !run.Status.Notified {
		t.Fatalf("the run is %+v", run.Status)
	}
	if len(good.got()) != 1 || len(bad.got()) != 1 {
		t.Fatalf("the good one got %v, the bad one %v", good.got(), bad.got())
	}
	var document notify.Document
	must(t, json.Unmarshal([]byte(good.got()[0]), &document))
	if document.Title != "Cleaner "+c.Name+": 1 deleted" || document.RunUID != string(run.UID) || len(document.Objects) != 1 || document.Objects[0].Name != "one" {
		t.Errorf("the message is %+v", document)
	}
	want := []string{
		"absent (Webhook): there is no Secret " + b.namespace + "/absent, which notificationRef names",
		"bad (Webhook): the service answered 403 Forbidden; check WEBHOOK_URL in Secret " + b.namespace + "/bad",
	}
	if !slices.Equal(run.Status.Undelivered, want) {
		t.Errorf("undelivered is %q, want %q", run.Status.Undelivered, want)
	}
}

// A run in which nothing matched is not told.
func TestChannelsAreNotToldOfNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	service := newReceiver(t, http.StatusOK)
	b.runner.Notify = notify.NewSender(nil, nil, clock.RealClock{})
	run := b.run(b.cleaner(v1alpha1.ActionScan, b.webhookTo("hook", service.URL)))
	if len(service.got()) != 0 || len(run.Status.Undelivered) != 0 || !run.Status.Notified {
		t.Errorf("it was told %v; the run is %+v", service.got(), run.Status)
	}
}

// The Secret of a Cleaner that names an account is read with the account's rights.
func TestSecretIsReadAsTheAccount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	service := newReceiver(t, http.StatusOK)
	b.runner.Notify = notify.NewSender(nil, nil, clock.RealClock{})
	b.configMap("one")
	c := b.cleaner(v1alpha1.ActionScan, b.webhookTo("hook", service.URL), b.account(may("configmaps", "get", "list")))
	run := b.run(c)
	want := "Let ServiceAccount " + b.namespace + "/cleaner get it: a Role in namespace " + b.namespace + " with verb get, resource secrets and resourceNames [hook], and a RoleBinding"
	if run.Status.Phase != v1alpha1.RunCompleted || len(service.got()) != 0 || len(run.Status.Undelivered) != 1 || !strings.Contains(run.Status.Undelivered[0], want) {
		t.Fatalf("it was told %v; the run is %+v", service.got(), run.Status)
	}
	b.allow(b.accountName(), b.namespace, named(may("secrets", "get"), "hook"))
	if run = b.run(c); len(run.Status.Undelivered) != 0 || len(service.got()) != 1 {
		t.Fatalf("it was told %v; the run is %+v", service.got(), run.Status)
	}
}
