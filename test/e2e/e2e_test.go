// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

// Package e2e tells the story of a user on a real cluster, the one that KUBECONFIG names: deploy, apply the samples, look,
// lose the leader, undeploy. Everything goes through make and kubectl, as a user would do it.
package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	operator = "projectsveltos"
	team     = "e2e-team"
	patience = 3 * time.Minute
)

func TestStory(t *testing.T) {
	ownCluster(t)
	t.Cleanup(func() { undeploy(t) })
	if !t.Run("deploy two replicas under the restricted profile", deploy) {
		t.FailNow()
	}
	t.Run("scan the cluster and find nothing", nothingFound)
	if !t.Run("apply the samples and see what they did", samples) {
		t.FailNow()
	}
	t.Run("scan, ask why, and let a Cleaner look for the same", somethingFound)
	t.Run("plan, approve, and see the plan carried out", approved)
	t.Run("kill the leader and see the other run what comes due, once", takeover)
	t.Run("be away while a run comes due, and run it once when back", comeback)
	t.Run("undeploy and find nothing left", nothingLeft)
}

func deploy(t *testing.T) {
	do(t, "", "make", "-C", "../..", "--no-print-directory", "deploy")
	do(t, "", kubectl("-n", operator, "scale", "deployment/kubecleaner-manager", "--replicas=2")...)
	do(t, "", kubectl("-n", operator, "rollout", "status", "deployment/kubecleaner-manager", "--timeout=120s")...)
	enforced := do(t, "", kubectl("get", "namespace", operator, "-o", `jsonpath={.metadata.labels.pod-security\.kubernetes\.io/enforce}`)...)
	if enforced != "restricted" {
		t.Fatalf("the operator's namespace enforces %q, want restricted", enforced)
	}
	if pods := strings.Fields(do(t, "", kubectl("-n", operator, "get", "pods", "-o", "name")...)); len(pods) != 2 {
		t.Fatalf("there are %d Pods, want 2: %v", len(pods), pods)
	}
}

const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: e2e-team, labels: {cleaner-samples: "true"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: e2e-team, name: expired, annotations: {cleaner/expires: "2020-01-01T00:00:00Z"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: e2e-team, name: protected, annotations: {cleaner/expires: "2020-01-01T00:00:00Z", cleaner/protect: "true"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: e2e-team, name: settings}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: e2e-team, name: web, annotations: {pause-resume: "true"}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      volumes: [{name: settings, configMap: {name: settings}}]
      containers: [{name: web, image: "example.invalid/none:1", imagePullPolicy: Never, volumeMounts: [{name: settings, mountPath: /settings}]}]
`

func samples(t *testing.T) {
	do(t, objects, kubectl("apply", "-f", "-")...)
	do(t, "", kubectl("apply", "-k", "../../config/samples")...)
	for _, name := range []string{"unused-configmaps", "expired-configmaps", "pause-deployments"} {
		waitFor(t, name+" is Ready", "True", kubectl("get", "cleaner", name, "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)...)
		do(t, "", kubectl("annotate", "cleaner", name, "apps.projectsveltos.io/run-requested-at=now")...)
		waitFor(t, name+" has run", "Completed", kubectl("get", "cleaner", name, "-o", `jsonpath={.status.conditions[?(@.type=="RunSucceeded")].reason}`)...)
	}
	if left := do(t, "", kubectl("-n", team, "get", "configmaps", "-o", "name")...); strings.Contains(left, "/expired") || !strings.Contains(left, "/protected") || !strings.Contains(left, "/settings") {
		t.Fatalf("the ConfigMaps that are left are:\n%s", left)
	}
	if got := do(t, "", kubectl("-n", team, "get", "deployment", "web", "-o", `jsonpath={.spec.replicas} {.metadata.annotations.previous-replicas}`)...); got != "0 2" {
		t.Fatalf("the Deployment has replicas and previous-replicas %q, want 0 2", got)
	}
	report := do(t, "", kubectl("get", "report", "unused-configmaps", "-o", "yaml")...)
	if strings.Contains(report, "name: settings") || !strings.Contains(report, "name: protected") && !strings.Contains(do(t, "", kubectl("get", "cleaner", "unused-configmaps", "-o", "yaml")...), "Protected") {
		t.Fatalf("the Report is:\n%s", report)
	}
	t.Log("\n" + do(t, "", kubectl("get", "cleaners")...) + "\n" + do(t, "", kubectl("get", "cleanerruns")...))
	waitFor(t, "there is an Event of the run", "Completed",
		kubectl("get", "events", "-A", "--field-selector", "involvedObject.name=expired-configmaps,involvedObject.kind=Cleaner", "-o", `jsonpath={.items[*].reason}`)...)
	waitFor(t, "there is an Event on the deleted object", "K8sCleaner",
		kubectl("-n", team, "get", "events", "--field-selector", "involvedObject.name=expired", "-o", `jsonpath={.items[*].reason}`)...)
	logs := do(t, "", kubectl("-n", operator, "logs", "-l", "app.kubernetes.io/component=manager", "--tail=-1")...)
	for _, want := range []string{"Acted on resource", "resource is a match for cleaner", "Run completed"} {
		if !strings.Contains(logs, want) {
			t.Errorf("the log does not say %q", want)
		}
	}
	for line := range strings.Lines(logs) {
		// Both replicas create the lease when there is none, and client-go calls it an error of the second.
		if strings.Contains(line, `"level":"ERROR"`) && !strings.Contains(line, "Error initially creating lease lock") {
			t.Errorf("the log has errors:\n%s", logs)
			break
		}
	}
}

const dueSoon = `
apiVersion: apps.projectsveltos.io/v1alpha1
kind: Cleaner
metadata: {name: %s}
spec:
  schedule: "%d %d %d * * *"
  action: Delete
  resourcePolicySet:
    resourceSelectors: [{group: "", version: v1, kind: ConfigMap, namespace: e2e-team, labelFilters: [{key: e2e, operation: Has}]}]
`

func takeover(t *testing.T) {
	do(t, "", kubectl("-n", team, "create", "configmap", "missed")...)
	do(t, "", kubectl("-n", team, "label", "configmap", "missed", "e2e=yes")...)
	leader := holder(t)
	do(t, "", kubectl("-n", operator, "delete", "pod", leader, "--grace-period=0", "--force")...)
	due := applyDue(t, "e2e-takeover")
	ranOnce(t, "e2e-takeover", due)
	if now := holder(t); now == leader {
		t.Fatalf("%s still leads", leader)
	}
}

func comeback(t *testing.T) {
	do(t, "", kubectl("-n", team, "create", "configmap", "missed")...)
	do(t, "", kubectl("-n", team, "label", "configmap", "missed", "e2e=yes")...)
	do(t, "", kubectl("-n", operator, "scale", "deployment/kubecleaner-manager", "--replicas=0")...)
	do(t, "", kubectl("-n", operator, "wait", "--for=delete", "pod", "-l", "app.kubernetes.io/component=manager", "--timeout=90s")...)
	due := applyDue(t, "e2e-comeback")
	<-time.After(time.Until(due.Add(time.Second))) // the moment has to pass while nobody is there
	do(t, "", kubectl("-n", operator, "scale", "deployment/kubecleaner-manager", "--replicas=2")...)
	ranOnce(t, "e2e-comeback", due)
}

// applyDue applies a Cleaner that deletes what is labelled e2e, a few seconds from now.
func applyDue(t *testing.T, name string) time.Time {
	t.Helper()
	due := time.Now().Add(3 * time.Second).Truncate(time.Second).UTC()
	do(t, fmt.Sprintf(dueSoon, name, due.Second(), due.Minute(), due.Hour()), kubectl("apply", "-f", "-")...)
	return due
}

// ranOnce waits for the Cleaner's run, and fails the test unless it is the only one, was due then, and deleted one object.
func ranOnce(t *testing.T, name string, due time.Time) {
	t.Helper()
	waitFor(t, name+" has run", "Completed", kubectl("get", "cleaner", name, "-o", `jsonpath={.status.conditions[?(@.type=="RunSucceeded")].reason}`)...)
	runs := do(t, "", kubectl("get", "cleanerruns", "-o",
		fmt.Sprintf(`jsonpath={range .items[?(@.spec.cleaner==%q)]}{.spec.trigger} {.spec.nominalTime} {.status.acted}{"\n"}{end}`, name))...)
	if want := fmt.Sprintf("Schedule %s 1", due.Format(time.RFC3339)); strings.TrimSpace(runs) != want {
		t.Fatalf("the runs are %q, want just %q", runs, want)
	}
}

// holder is the Pod that leads.
func holder(t *testing.T) string {
	t.Helper()
	identity := do(t, "", kubectl("-n", operator, "get", "lease", "kubecleaner-leader", "-o", "jsonpath={.spec.holderIdentity}")...)
	pod, _, _ := strings.Cut(identity, "_")
	return pod
}

func nothingLeft(t *testing.T) {
	undeploy(t)
	do(t, "", kubectl("get", "namespace", operator)...) // others may use it
	if left := do(t, "", kubectl("-n", operator, "get", "deployment,pod,service,role,rolebinding,secret,lease", "-o", "name")...); left != "" {
		t.Errorf("still there:\n%s", left)
	}
	left := do(t, "", kubectl("get", "crd,clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding", "-o", "name")...)
	for line := range strings.Lines(left) {
		if strings.Contains(line, "kubecleaner") || strings.Contains(line, operator) {
			t.Errorf("still there: %s", line)
		}
	}
}

func undeploy(t *testing.T) {
	do(t, "", kubectl("delete", "namespace", team, "--ignore-not-found")...)
	do(t, "", "make", "-C", "../..", "--no-print-directory", "undeploy")
}

func kubectl(args ...string) []string { return append([]string{os.Getenv("KUBECTL")}, args...) }

// do runs a command and returns what it printed. Its failure is the test's.
func do(t *testing.T, stdin string, command ...string) string {
	t.Helper()
	out, err := execute(stdin, command)
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return out
}

// try runs a command that may fail.
func try(t *testing.T, stdin string, command ...string) string {
	t.Helper()
	out, err := execute(stdin, command)
	if err != nil {
		return ""
	}
	return out
}

func execute(stdin string, command []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return string(out) + stderr.String(), err
	}
	return string(out), nil
}

// waitFor runs a command until it prints what is wanted.
func waitFor(t *testing.T, what, want string, command ...string) {
	t.Helper()
	var out string
	err := wait.PollUntilContextTimeout(context.Background(), 200*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		out = try(t, "", command...)
		return strings.Contains(out, want), nil
	})
	if err != nil {
		t.Fatalf("waiting until %s: %q", what, out)
	}
}
