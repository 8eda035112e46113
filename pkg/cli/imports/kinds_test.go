// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import "testing"

// A cluster of today does not serve the old versions of a kind.
func TestBuiltInVersions(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"StorageClass": "v1", "PriorityClass": "v1", "HorizontalPodAutoscaler": "v2", "CronJob": "v1", "Deployment": "v1",
		"PodDisruptionBudget": "v1", "FlowSchema": "v1", "Ingress": "v1",
	}
	for _, gvk := range builtIn() {
		version, looked := want[gvk.Kind]
		if looked && gvk.Version != version {
			t.Errorf("%s is of version %s, want %s", gvk.Kind, gvk.Version, version)
		}
		delete(want, gvk.Kind)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}
