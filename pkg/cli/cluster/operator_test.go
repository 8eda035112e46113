// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"os"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// TestPageIsNoOperator, although it has the operator's image. The labels may be others in a chart that was changed.
func TestPageIsNoOperator(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{"manager/manager.yaml": true, "dashboard/dashboard.yaml": false} {
		text, err := os.ReadFile("../../../config/" + file)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			var d appsv1.Deployment
			if err := yaml.Unmarshal(document, &d); err != nil || d.Kind != "Deployment" {
				continue
			}
			found++
			if IsOperator(&d) != want {
				t.Errorf("%s: it is an operator: %t", file, !want)
			}
			d.Labels = nil
			if IsOperator(&d) != want {
				t.Errorf("%s without labels: it is an operator: %t", file, !want)
			}
		}
		if found != 1 {
			t.Errorf("%s has %d Deployments", file, found)
		}
	}
}
