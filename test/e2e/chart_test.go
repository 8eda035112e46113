// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// minute is how long it may take from helm install to the first finding in status.
	minute = time.Minute
	// period is the time between two runs of the Cleaner that runs while the release changes.
	period = 10 * time.Second
)

// TestChart is the story of a release: install, find something, upgrade, roll back and uninstall, while a Cleaner runs every 10 seconds.
func TestChart(t *testing.T) {
	if os.Getenv("HELM") == "" {
		t.Skip("HELM names no helm: make e2e builds one")
	}
	ownCluster(t)
	t.Cleanup(func() { removeChart(t, team, operator) })
	if !t.Run("install, and find something within a minute", install) {
		t.FailNow()
	}
	t.Run("the page in the cluster", page)
	t.Run("upgrade and roll back, with every run once", upgrade)
	t.Run("uninstall, and restore what was deleted", uninstall)
}

// ownCluster ends the test in a cluster that has Cleaners already: it may be in use.
func ownCluster(t *testing.T) {
	t.Helper()
	if out := try(t, "", kubectl("get", "crd", "cleaners.apps.projectsveltos.io", "--ignore-not-found", "-o", "name")...); out != "" {
		t.Fatal("the cluster of KUBECONFIG has Cleaners already: end-to-end tests are for a cluster of their own")
	}
}

// removeChart removes all that a release of the chart leaves, and the namespaces.
func removeChart(t *testing.T, namespaces ...string) {
	t.Helper()
	try(t, "", kubectl("delete", "cleaners", "--all", "--ignore-not-found", "--timeout=60s")...)
	try(t, "", helm("uninstall", "kubecleaner")...)
	crds := []string{"delete", "crd", "--ignore-not-found"}
	for _, plural := range []string{"cleaners", "cleanerruns", "reports", "cleanerapprovals"} {
		crds = append(crds, plural+".apps.projectsveltos.io")
	}
	try(t, "", kubectl(crds...)...)
	do(t, "", kubectl(append([]string{"delete", "namespace", "--ignore-not-found"}, namespaces...)...)...)
}

func helm(args ...string) []string {
	return append([]string{os.Getenv("HELM"), "--namespace", operator}, args...)
}

// imageValues are the flags that say which image the release runs.
func imageValues(t *testing.T) []string {
	t.Helper()
	repository, tag, found := strings.Cut(os.Getenv("IMG"), ":")
	if !found {
		t.Fatalf("IMG is %q, want REPOSITORY:TAG", os.Getenv("IMG"))
	}
	return []string{"--set", "image.repository=" + repository, "--set-string", "image.tag=" + tag, "--set", "replicas=2"}
}

const leftOver = `
apiVersion: v1
kind: Namespace
metadata: {name: e2e-team}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: e2e-team, name: left-over}
---
apiVersion: apps.projectsveltos.io/v1alpha1
kind: Cleaner
metadata: {name: e2e-chart}
spec:
  schedule: "*/10 * * * * *"
  successfulRunsHistoryLimit: 100
  resourcePolicySet:
    resourceSelectors: [{group: "", version: v1, kind: ConfigMap, namespace: e2e-team, finding: {type: Unused}}]
`

func install(t *testing.T) {
	start := time.Now()
	notes := do(t, "", helm(append([]string{"install", "kubecleaner", "../../charts/kubecleaner", "--create-namespace"}, imageValues(t)...)...)...)
	for _, want := range []string{"kubectl cleaner scan", "kubectl delete crd", "helm uninstall kubecleaner"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not say %q:\n%s", want, notes)
		}
	}
	do(t, leftOver, kubectl("apply", "-f", "-")...)
	waitFor(t, "the finding is in status", "left-over", kubectl("get", "cleaner", "e2e-chart", "-o", "jsonpath={.status.lastRun}")...)
	took := time.Since(start).Round(100 * time.Millisecond)
	t.Logf("from helm install to the first finding in status: %s", took)
	if took > minute {
		t.Errorf("from helm install to the first finding in status took %s, want at most %s", took, minute)
	}
	do(t, "", kubectl("-n", operator, "rollout", "status", "deployment/kubecleaner-manager", "--timeout=120s")...)
	do(t, "", helm("test", "kubecleaner")...)
}

func upgrade(t *testing.T) {
	values := append(imageValues(t), "--set", "podAnnotations.release=next")
	do(t, "", helm(append([]string{"upgrade", "kubecleaner", "../../charts/kubecleaner"}, values...)...)...)
	do(t, "", kubectl("-n", operator, "rollout", "status", "deployment/kubecleaner-manager", "--timeout=120s")...)
	anotherRun(t)
	do(t, "", helm("rollback", "kubecleaner", "1")...)
	do(t, "", kubectl("-n", operator, "rollout", "status", "deployment/kubecleaner-manager", "--timeout=120s")...)
	if annotation := do(t, "", kubectl("-n", operator, "get", "deployment", "kubecleaner-manager", "-o", "jsonpath={.spec.template.metadata.annotations.release}")...); annotation != "" {
		t.Errorf("after the rollback, the Pods are annotated release=%s", annotation)
	}
	anotherRun(t)
	times := nominalTimes(t)
	t.Logf("%d runs while the release changed", len(times))
	for i, at := range times[1:] {
		if gap := at.Sub(times[i]); gap != period {
			t.Errorf("a run was due at %s, and the next at %s: want %s between them", times[i], at, period)
		}
	}
	for _, phase := range strings.Fields(do(t, "", kubectl("get", "cleanerruns", "-o", "jsonpath={.items[*].status.phase}")...)) {
		if phase != "Completed" && phase != "Running" {
			t.Errorf("a run is %s", phase)
		}
	}
}

// anotherRun waits until a run that became due after this moment is over.
func anotherRun(t *testing.T) {
	t.Helper()
	due := time.Now().Truncate(period).Add(period).Unix()
	waitFor(t, "the next run is over", "Completed", kubectl("get", "cleanerrun", "e2e-chart-"+strconv.FormatInt(due, 10), "-o", "jsonpath={.status.phase}")...)
}

// nominalTimes are the times at which the runs were due, in order.
func nominalTimes(t *testing.T) []time.Time {
	t.Helper()
	var times []time.Time
	for _, text := range strings.Fields(do(t, "", kubectl("get", "cleanerruns", "-o", "jsonpath={.items[*].spec.nominalTime}")...)) {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, at)
	}
	if len(times) < 2 {
		t.Fatalf("there were only %d runs", len(times))
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

func uninstall(t *testing.T) {
	do(t, "", kubectl("delete", "cleaner", "e2e-chart")...)
	do(t, "", kubectl("-n", team, "create", "configmap", "mistake", "--from-literal=a=b")...)
	do(t, "", kubectl("-n", team, "label", "configmap", "mistake", "e2e=yes")...)
	due := applyDue(t, "e2e-mistake")
	ranOnce(t, "e2e-mistake", due)
	do(t, "", helm("uninstall", "kubecleaner", "--wait")...)
	for _, kept := range [][]string{{"cleaner", "e2e-mistake"}, {"cleanerrun", fmt.Sprintf("e2e-mistake-%d", due.Unix())}} {
		do(t, "", kubectl("get", kept[0], kept[1])...)
	}
	if left := do(t, "", kubectl("get", "deployment,clusterrole,clusterrolebinding", "-A", "-l", "app.kubernetes.io/instance=kubecleaner", "-o", "name")...); left != "" {
		t.Errorf("after helm uninstall there are still:\n%s", left)
	}
	do(t, "", append(plugin(t), "restore", fmt.Sprintf("e2e-mistake-%d", due.Unix()), "--yes")...)
	if value := do(t, "", kubectl("-n", team, "get", "configmap", "mistake", "-o", "jsonpath={.data.a}")...); value != "b" {
		t.Errorf("the restored ConfigMap has a=%q, want b", value)
	}
}
