// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"maps"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestFindingsUnknown is of a mark that cannot be read: everything was readable, and yet nobody can say.
func TestFindingsUnknown(t *testing.T) {
	c := admin(t)
	shop := namespace(t, c)
	create(t, c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: shop, Name: "settings", Annotations: map[string]string{"janitor/ttl": "soon"},
	}})
	v := visit(t, env.Config)
	for of, unknown := range map[string]int{"Expired": 1, "Unused": 0} {
		var found Findings
		v.wants(http.StatusOK, http.MethodGet, "findings?type="+of+"&namespace="+shop, nil, &found)
		if found.Total != 1 || found.Unknown != unknown || found.Items[0].Unknown != (unknown > 0) ||
			len(found.Items[0].NotReadable) > 0 {
			t.Errorf("%s: %d findings, %d unknown: %+v", of, found.Total, found.Unknown, found.Items)
		}
	}
}

// TestFindingsNotCounted: what a Cleaner would leave alone is not in the total, and that is said.
func TestFindingsNotCounted(t *testing.T) {
	c := admin(t)
	shop := namespace(t, c)
	create(t, c, settingsIn(shop))
	create(t, c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: shop, Name: "chart", Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"},
	}})
	var found Findings
	visit(t, env.Config).wants(http.StatusOK, http.MethodGet, "findings?kind=ConfigMap&namespace="+shop, nil, &found)
	if found.Total != 2 || found.Frees.Objects != 1 || !maps.Equal(found.NotCounted, map[string]int{"managed by Helm": 1}) {
		t.Errorf("%d findings, %d counted, %v not counted", found.Total, found.Frees.Objects, found.NotCounted)
	}
}
