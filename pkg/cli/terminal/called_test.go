// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestIsCalled(t *testing.T) {
	deployment := schema.GroupKind{Group: "apps", Kind: "Deployment"}
	for _, c := range []struct {
		kind schema.GroupKind
		word string
		want bool
	}{
		{schema.GroupKind{Kind: "ConfigMap"}, "cm", true},
		{schema.GroupKind{Kind: "ConfigMap"}, "ConfigMaps", true},
		{schema.GroupKind{Kind: "ConfigMap"}, "configmap.", true},
		{schema.GroupKind{Kind: "ConfigMap"}, "configmap.apps", false},
		{schema.GroupKind{Group: "networking.k8s.io", Kind: "NetworkPolicy"}, "networkpolicies.networking.k8s.io", true},
		{deployment, "deploy.apps", true},
		{deployment, "Deployment", true},
		{deployment, "pods", false},
	} {
		if got := IsCalled(c.kind, c.word); got != c.want {
			t.Errorf("%s called %q: %v", c.kind, c.word, got)
		}
	}
}
