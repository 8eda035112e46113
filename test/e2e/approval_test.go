// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

const planner = `
apiVersion: apps.projectsveltos.io/v1alpha1
kind: Cleaner
metadata: {name: e2e-planner}
spec:
  schedule: "0 3 1 1 *"
  action: Delete
  approval: {mode: Required}
  resourcePolicySet:
    resourceSelectors: [{group: "", version: v1, kind: ConfigMap, namespace: e2e-team, labelFilters: [{key: planned, operation: Has}]}]
`

// approved: with the rights and the policy that are deployed, a plan waits until it is approved, and then is carried out.
func approved(t *testing.T) {
	cleaner := plugin(t)
	do(t, "", kubectl("-n", team, "create", "configmap", "planned")...)
	do(t, "", kubectl("-n", team, "label", "configmap", "planned", "planned=yes")...)
	do(t, planner, kubectl("apply", "-f", "-")...)
	result := kubectl("get", "cleaner", "e2e-planner", "-o", `jsonpath={.status.conditions[?(@.type=="RunSucceeded")].reason}`)
	do(t, "", kubectl("annotate", "cleaner", "e2e-planner", "apps.projectsveltos.io/run-requested-at=now")...)
	waitFor(t, "a plan waits", "AwaitingApproval", result...)
	if out := do(t, "", append(cleaner, "runs", "--waiting")...); !strings.Contains(out, "e2e-planner") {
		t.Fatalf("the plan is not listed:\n%s", out)
	}
	t.Log("\n" + do(t, "", append(cleaner, "approve", "e2e-planner", "--yes", "--reason", "checked")...))
	waitFor(t, "the plan is carried out", "Completed", result...)
	if left := do(t, "", kubectl("-n", team, "get", "configmap", "planned", "--ignore-not-found", "-o", "name")...); left != "" {
		t.Fatalf("%s is still there", left)
	}
	t.Log("\n" + do(t, "", append(cleaner, "runs", "e2e-planner", "-o", "wide")...))
}
