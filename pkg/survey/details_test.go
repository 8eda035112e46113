// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// What only adds to a reason is read when there is something to explain, of the whole cluster, and what cannot be read of it ends nothing: neither a
// missing right nor an answer that nobody understands.
func TestDetails(t *testing.T) {
	t.Parallel()
	leaving := `{"metadata":{"namespace":"a","name":"held","uid":"u","resourceVersion":"1","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["acme.io/hold"]}}`
	operator := item("ops", "acme-operator", `,"status":{"availableReplicas":1}`)
	kinds := []object.Kind{
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Resource: "configmaps", Namespaced: true},
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Service"), Resource: "services", Namespaced: true},
		{GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("Deployment"), Resource: "deployments", Namespaced: true},
	}
	for name, test := range map[string]struct {
		configMaps, deployments, services string
		want, asked                       string
	}{
		"nothing to explain": {list(item("a", "fine", "")), list(operator), list(), "", "/api/v1/namespaces/a/configmaps"},
		"a deletion that does not end": {
			list(leaving), list(operator), list(), "its controller may be Deployment ops/acme-operator, which runs",
			"/api/v1/namespaces/a/configmaps /apis/apps/v1/deployments /api/v1/services",
		},
		"no right to read": {
			list(leaving), "403", list(), "it is unknown whether its controller runs", "/api/v1/namespaces/a/configmaps /apis/apps/v1/deployments /api/v1/services",
		},
		"no answer": {
			list(leaving), list(operator), "500", "not read: Service", "/api/v1/namespaces/a/configmaps /apis/apps/v1/deployments /api/v1/services",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			reader := server(t, map[string]string{
				"/api/v1/namespaces/a/configmaps": test.configMaps, "/apis/apps/v1/deployments": test.deployments, "/api/v1/services": test.services,
			}, func(uri string) {
				path, _, _ := strings.Cut(uri, "?")
				if path != "/version" && !slices.Contains(asked, path) { // an error is tried again
					asked = append(asked, path)
				}
			})
			wanted := []finding.Want{{Kind: schema.GroupKind{Kind: "ConfigMap"}, Type: "Stuck"}}
			finder, err := New(t.Context(), reader, Options{Wanted: wanted, Now: now, Namespace: "a", Catalog: &selector.Catalog{Kinds: kinds}})
			if err != nil {
				t.Fatal(err)
			}
			if err := Read(t.Context(), reader, finder, "a", nil, Observer{}); err != nil {
				t.Fatal(err)
			}
			reason := ""
			for f := range finder.Findings() {
				reason += f.Reason
			}
			if !strings.Contains(reason, test.want) || (reason == "") != (test.want == "") {
				t.Errorf("the reason is %q, want %q in it", reason, test.want)
			}
			if got := strings.Join(asked, " "); got != test.asked {
				t.Errorf("asked for %s, want %s", got, test.asked)
			}
		})
	}
}
