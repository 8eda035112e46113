// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestChannels: the button that sends a sample asks for the right to read the Secret, which sending it takes, and for no other.
func TestChannels(t *testing.T) {
	c := admin(t)
	team := namespace(t, c)
	of := cleaner(t, c, team, func(spec *v1alpha1.CleanerSpec) {
		spec.Notifications = []v1alpha1.Notification{
			{Name: "report", Type: v1alpha1.NotificationCleanerReport},
			{Name: "chat", Type: v1alpha1.NotificationSlack, NotificationRef: &v1alpha1.NotificationRef{Namespace: "kube-system", Name: "slack"}},
		}
	})
	visitors := people(t, c, team)
	for name, missing := range map[string]string{"admin": "", "editor": `get secrets "slack" in namespace kube-system`} {
		test := &Allowed{Allowed: missing == "", Missing: missing}
		want := []Channel{
			{Cleaner: of.Name, Name: "report", Type: v1alpha1.NotificationCleanerReport},
			{Cleaner: of.Name, Name: "chat", Type: v1alpha1.NotificationSlack, Test: test},
		}
		var detail CleanerDetail
		visitors[name].wants(http.StatusOK, http.MethodGet, "cleaners/"+of.Name, nil, &detail)
		var all Page[Channel]
		visitors[name].wants(http.StatusOK, http.MethodGet, "channels?limit=500", nil, &all)
		var listed []Channel
		for _, each := range all.Items {
			if each.Cleaner == of.Name {
				listed = append(listed, each)
			}
		}
		for where, got := range map[string][]Channel{"the Cleaner": detail.Channels, "the list": listed} {
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(Channel{})); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", where, name, diff)
			}
		}
	}
}

// TestSamplesLinkToThePage: only to an address that others can open, and that the server is known to have.
func TestSamplesLinkToThePage(t *testing.T) {
	for host, want := range map[string]string{
		"page.example.com:8443": "https://page.example.com:8443", "localhost:8443": "", "LOCALHOST": "",
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Host = host
		hosts := []string{"page.example.com", "localhost"}
		if got := (&Server{Options: Options{Mode: ModeToken, Hosts: hosts}}).ownAddress(r); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
		for _, without := range []Options{{Mode: ModeToken}, {Mode: ModeLocal, Hosts: hosts}} {
			if got := (&Server{Options: without}).ownAddress(r); got != "" {
				t.Errorf("%s of %+v: %q", host, without, got)
			}
		}
	}
}
