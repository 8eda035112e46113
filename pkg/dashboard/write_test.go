// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestStatusOfAFailedRead: only what the API server says does not exist is not found.
func TestStatusOfAFailedRead(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(refuses.Close)
	for status, page := range map[int]*visitor{
		http.StatusUnauthorized: visit(t, &rest.Config{Host: refuses.URL}),
		http.StatusBadGateway:   visit(t, &rest.Config{Host: "http://127.0.0.1:1"}),
		http.StatusNotFound:     visit(t, env.Config),
	} {
		page.wants(status, http.MethodGet, "cleaners/none", nil, nil)
		page.wants(status, http.MethodPost, "cleaners/none/cancel", nil, nil)
		page.wants(status, http.MethodPost, "cleaners/none/notify-test", nil, nil)
		page.wants(status, http.MethodPost, "plans/none/approve", PlanDecision{Hash: "1234"}, nil)
		manifest := Manifest{YAML: "apiVersion: " + v1alpha1.GroupVersion.String() + "\nkind: Cleaner\nmetadata: {name: none}\n"}
		page.wants(status, http.MethodPut, "cleaners/none", manifest, nil)
	}
}
