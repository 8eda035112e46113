// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// plugin builds the kubectl plugin, and returns what begins its command line.
func plugin(t *testing.T) []string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "kubectl-cleaner")
	do(t, "", "go", "build", "-o", binary, "../../cmd/kubectl-cleaner")
	return []string{binary}
}

// nothingFound scans the cluster: what runs a cluster, and the operator, is in use.
func nothingFound(t *testing.T) {
	if found := do(t, "", append(plugin(t), "scan", "--min-confidence", "Weak", "-o", "wide")...); found != "" {
		t.Errorf("in a cluster with nothing but the operator were found:\n%s", found)
	}
}

// somethingFound leaves a ConfigMap over, scans, asks why, and lets a Cleaner look for the same.
func somethingFound(t *testing.T) {
	do(t, "", kubectl("-n", team, "create", "configmap", "left-over")...)
	cleaner := plugin(t)
	const name = "ConfigMap/" + team + "/left-over"
	if found := do(t, "", append(cleaner, "scan", "-n", team, "--kind", "cm", "-o", "name")...); !strings.Contains(found, name+"\n") || strings.Contains(found, "/settings") {
		t.Fatalf("scan finds:\n%s", found)
	}
	t.Log("\n" + do(t, "", append(cleaner, "scan", "-n", team)...) + "\n" + do(t, "", append(cleaner, "why", name)...))
	manifest := do(t, "", append(cleaner, "scan", "-n", team, "--kind", "cm", "-o", "cleaner")...)
	do(t, manifest, kubectl("apply", "-f", "-")...)
	applied := strings.Fields(do(t, manifest, kubectl("get", "-f", "-", "-o", "name")...))
	for _, one := range applied {
		do(t, "", kubectl("annotate", one, "apps.projectsveltos.io/run-requested-at=now")...)
		waitFor(t, one+" has run", "Completed", kubectl("get", one, "-o", `jsonpath={.status.conditions[?(@.type=="RunSucceeded")].reason}`)...)
		waitFor(t, one+" found it", "left-over", kubectl("get", one, "-o", `jsonpath={.status.lastRun}`)...)
		do(t, "", kubectl("delete", one)...)
	}
}
