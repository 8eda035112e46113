// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// A sample goes to each channel of the Cleaner, or to the one that is named, and says that it is one.
func TestNotifyTest(t *testing.T) {
	s := newSite(t)
	bodies := make(chan string, 10)
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		must(t, err)
		bodies <- string(body)
	}))
	t.Cleanup(service.Close)
	notifications := []v1alpha1.Notification{{Name: "report", Type: v1alpha1.NotificationCleanerReport}}
	for name, keys := range map[string]map[string]string{"good": {"WEBHOOK_URL": service.URL}, "bad": {"WEBHOOK_TOKEN": "canary-token"}} {
		must(t, s.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}, StringData: keys}))
	}
	for _, name := range []string{"good", "bad", "none"} {
		notifications = append(notifications, v1alpha1.Notification{
			Name: name, Type: v1alpha1.NotificationWebhook, NotificationRef: &v1alpha1.NotificationRef{APIVersion: "v1", Kind: "Secret", Namespace: s.namespace, Name: name},
		})
	}
	c := s.cleaner(func(c *v1alpha1.Cleaner) { c.Spec.Notifications = notifications })

	got := s.call(t.Context(), nil, "notify", "test", c.Name, "--allowed-notification-hosts=127.0.0.1")
	s.wants(got, codes.ExitPartial, "NOTIFICATION   TYPE   RESULT\ngood   Webhook   delivered\n"+
		"bad   Webhook   Secret NS/bad: WEBHOOK_URL is missing: it holds the address of the service, which begins with https:// or http://\n"+
		"none   Webhook   there is no Secret NS/none, which notificationRef names\n", "note: no sample of report (CleanerReport): the operator writes it into the cluster\n")
	var sent struct{ Cleaner, Message string }
	body := <-bodies
	must(t, json.Unmarshal([]byte(body), &sent))
	if sent.Cleaner != c.Name || !strings.HasPrefix(sent.Message, "This is a test of the notification: nothing was run") {
		t.Errorf("the service got %s", body)
	}
	s.wants(s.call(t.Context(), nil, "notify", "test", c.Name, "good", "--allowed-notification-hosts=127.0.0.1"), codes.ExitDone, "NOTIFICATION   TYPE   RESULT\ngood   Webhook   delivered\n", "")
	<-bodies
	s.wants(s.call(t.Context(), nil, "notify", "test", c.Name, "good", "--allowed-notification-hosts=127.0.0.1", "--dashboard-url=https://cleaner.example.com"), codes.ExitDone, "NOTIFICATION   TYPE   RESULT\ngood   Webhook   delivered\n", "")
	if body := <-bodies; !strings.Contains(body, `"page":"https://cleaner.example.com/cleaners/`+c.Name+`"`) {
		t.Errorf("the sample does not link to the page: %s", body)
	}
	if got := call(t.Context(), t, "", nil, "notify", "test", "x", "--dashboard-url=https://cleaner.example.com/page"); got.code != codes.ExitError || !strings.Contains(got.errOut, "without a path") {
		t.Errorf("exit %d: %s", got.code, got.errOut)
	}
	s.wants(s.call(t.Context(), nil, "notify", "test", c.Name, "report"), codes.ExitError, "",
		`error: notification "report" of cleaner "unused-NS" is sent to no service: the operator writes it into the cluster   [E-NTF-001]`+"\n")
	s.wants(s.call(t.Context(), nil, "notify", "test", c.Name, "god"), codes.ExitError, "",
		`error: cleaner "unused-NS" has no notification "god"`+"\nhint: there are: report, good, bad, none   [E-NTF-001]\n")
	if got := call(t.Context(), t, "", nil, "notify"); got.code != codes.ExitUsage || !strings.Contains(got.errOut, "notify test CLEANER [NOTIFICATION]") {
		t.Errorf("exit %d: %s", got.code, got.errOut)
	}
}
