// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"testing"

	discoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A ComponentStatus has no UID: to read it as an object fails, and that would make all objects unknown.
func TestComponentStatusesAreNoObjects(t *testing.T) {
	resource := func(name, kind string, verbs ...string) discoveryv2.APIResourceDiscovery {
		return discoveryv2.APIResourceDiscovery{Resource: name, ResponseKind: &metav1.GroupVersionKind{Kind: kind}, Verbs: verbs}
	}
	var found Catalog
	err := found.add(discoveryv2.APIGroupDiscovery{Versions: []discoveryv2.APIVersionDiscovery{{Version: "v1", Resources: []discoveryv2.APIResourceDiscovery{
		resource("componentstatuses", "ComponentStatus", "get", "list"), resource("configmaps", "ConfigMap", "get", "list"),
		resource("bindings", "Binding", "create"),
	}}}})
	if err != nil || len(found.Kinds) != 1 || found.Kinds[0].Kind != "ConfigMap" {
		t.Errorf("found %v, %v", found.Kinds, err)
	}
}
