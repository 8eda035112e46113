// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Who reads that the operator could not start learns which API server it asked, and what to look at.
func TestReach(t *testing.T) {
	const asking = "asking the API server SERVER for apps.projectsveltos.io/v1alpha1: "
	group := schema.GroupResource{Group: "apps.projectsveltos.io"}
	for name, c := range map[string]struct {
		answer any
		closed bool
		want   string
	}{
		"it serves Cleaners": {answer: metav1.APIResourceList{GroupVersion: "apps.projectsveltos.io/v1alpha1"}},
		"it is not there":    {closed: true, want: "connect: connection refused; check the server that KUBECONFIG names or, in a Pod, what is on the way to it"},
		"it knows nobody": {
			answer: apierrors.NewUnauthorized("Unauthorized").Status(),
			want:   "; check the credentials in KUBECONFIG or, in a Pod, the token of its ServiceAccount",
		},
		"it forbids it": {
			answer: apierrors.NewForbidden(schema.GroupResource{}, "", nil).Status(),
			want:   "; check who the operator is, in KUBECONFIG or by the Pod's ServiceAccount, and that the ClusterRole system:discovery is bound to it",
		},
		"it has no Cleaners": {
			answer: apierrors.NewNotFound(group, "").Status(),
			want:   "; install the CustomResourceDefinitions of KubeCleaner",
		},
		"it is something else": {answer: "hello", want: "; check the server that KUBECONFIG names or, in a Pod, what is on the way to it"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if status, ok := c.answer.(metav1.Status); ok {
					w.WriteHeader(int(status.Code))
				}
				_ = json.NewEncoder(w).Encode(c.answer)
			}))
			t.Cleanup(server.Close)
			if c.closed {
				server.Close()
			}
			got := ""
			if err := reach(t.Context(), &rest.Config{Host: strings.Replace(server.URL, "//", "//me:secret@", 1)}); err != nil {
				got = strings.ReplaceAll(err.Error(), strings.Replace(server.URL, "//", "//me:xxxxx@", 1), "SERVER")
			}
			if c.want == "" && got != "" || c.want != "" && !strings.HasPrefix(got, asking) || !strings.HasSuffix(got, c.want) {
				t.Fatalf("it says %q", got)
			}
			if strings.Contains(got, "secret") {
				t.Fatal("it shows the password")
			}
		})
	}
}
