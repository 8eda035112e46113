// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// F34: the Go runtime of the manager collects before the kernel ends the Pod: its own limit is 90 % of what the Pod's leaves it beside
// the processes that run scripts.
func TestMemoryLimitOfTheDeployment(t *testing.T) {
	text, err := os.ReadFile("../../config/manager/manager.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var deployment appsv1.Deployment
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		if strings.Contains(document, "kind: Deployment") {
			err = yaml.UnmarshalStrict([]byte(document), &deployment)
		}
	}
	if err != nil || len(deployment.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("the manifest has no Deployment of one container: %v", err)
	}
	manager := deployment.Spec.Template.Spec.Containers[0]
	limit := resource.Quantity{}
	for _, variable := range manager.Env {
		if variable.Name == "GOMEMLIMIT" {
			limit = resource.MustParse(strings.TrimSuffix(variable.Value, "B"))
		}
	}
	own := manager.Resources.Limits.Memory().Value() - int64(standard().maxScriptMemory)
	if share := float64(limit.Value()) / float64(own); share < 0.88 || share > 0.90 {
		t.Errorf("GOMEMLIMIT is %s, %.2f of the %d MiB that are the manager's own", limit.String(), share, own>>20)
	}
}
