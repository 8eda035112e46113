// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// A preview on a cluster asks for the metrics and events that the Cleaner asks for, and for metrics only the hosts that are allowed.
func TestPreviewAsksForInputs(t *testing.T) {
	s := newSite(t)
	metrics := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"scalar","result":[1,"3"]}}`)
	}))
	t.Cleanup(metrics.Close)
	for _, name := range []string{"noted", "quiet"} {
		must(t, s.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}))
	}
	must(t, s.Create(t.Context(), &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "noted.1"}, Reason: "Noted", Type: "Normal",
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: s.namespace, Name: "noted"},
	}))
	file := filepath.Join(t.TempDir(), "cleaner.yaml")
	must(t, os.WriteFile(file, []byte(fmt.Sprintf(`apiVersion: apps.projectsveltos.io/v1alpha1
kind: Cleaner
metadata: {name: inputs}
spec:
  schedule: "0 3 * * *"
  action: Delete
  resourcePolicySet:
    resourceSelectors:
    - group: ""
      version: v1
      kind: ConfigMap
      namespace: %s
      includeEvents: true
      metricSource: {url: %s}
      metricQueries: [{name: load, query: up}]
      evaluate: |
        function evaluate()
          return {matching = metrics.load == 3 and #events == 1, message = events[1] and events[1].reason}
        end
`, s.namespace, metrics.URL)), 0o600))
	got := s.call(t.Context(), nil, "preview", "-f", file, "--allowed-metric-hosts=127.0.0.1")
	if got.code != codes.ExitDone || !strings.Contains(got.out, "noted") || !strings.Contains(got.out, "Noted") || strings.Contains(got.out, "quiet") {
		t.Errorf("%+v", got)
	}
	got = s.call(t.Context(), nil, "preview", "-f", file)
	if got.code == codes.ExitDone || !strings.Contains(got.out+got.errOut, "--allowed-metric-hosts") {
		t.Errorf("%+v", got)
	}
}
