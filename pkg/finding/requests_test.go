// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

// What Pods hold whose containers wait for what does not come, as the scheduler counts.
func TestRequests(t *testing.T) {
	t.Parallel()
	const (
		crashes = "status: {phase: Running, containerStatuses: [{name: a, state: {waiting: {reason: CrashLoopBackOff}}}]}"
		runs    = "status: {phase: Running, containerStatuses: [{name: a, restartCount: 500, state: {running: {}}}]}"
		wants   = "resources: {requests: {cpu: 500m, memory: 1Gi}}"
		spec    = "spec: {containers: [{name: a, " + wants + "}]}"
	)
	owned := func(name, status string) string {
		return of("v1 Pod shop/"+name, "labels: {pod-template-hash: '1'}, ownerReferences: "+
			"[{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: u, controller: true}]", spec, status)
	}
	web := of("apps/v1 Deployment shop/web", "", "spec: {replicas: 3}")
	for name, test := range map[string]struct {
		cluster string
		want    finding.Requests
	}{
		"a Pod":                    {of("v1 Pod shop/a", "", spec, crashes), finding.Requests{CPUMillis: 500, MemoryBytes: 1 << 30}},
		"no requests":              {of("v1 Pod shop/a", "", "spec: {containers: [{name: a}]}", crashes), finding.Requests{}},
		"what nobody can read":     {of("v1 Pod shop/a", "", "spec: {containers: [{name: a, resources: {requests: {cpu: much, memory: 2}}}]}", crashes), finding.Requests{MemoryBytes: 2}},
		"two containers, overhead": {of("v1 Pod shop/a", "", "spec: {overhead: {cpu: 1}, containers: [{name: a, "+wants+"}, {name: b, "+wants+"}]}", crashes), finding.Requests{CPUMillis: 2000, MemoryBytes: 2 << 30}},
		"one that runs before, and needs more": {
			of("v1 Pod shop/a", "", "spec: {initContainers: [{name: i, resources: {requests: {cpu: 2}}}], containers: [{name: a, "+wants+"}]}", crashes),
			finding.Requests{CPUMillis: 2000, MemoryBytes: 1 << 30},
		},
		"one that goes on running beside": {
			of("v1 Pod shop/a", "", "spec: {initContainers: [{name: i, restartPolicy: Always, resources: {requests: {cpu: 2}}}, {name: j, resources: {requests: {cpu: 1}}}], containers: [{name: a, "+wants+"}]}", crashes),
			finding.Requests{CPUMillis: 3000, MemoryBytes: 1 << 30},
		},
		"requests of the whole Pod": {
			of("v1 Pod shop/a", "", "spec: {resources: {requests: {cpu: 100m}}, containers: [{name: a, "+wants+"}]}", crashes),
			finding.Requests{CPUMillis: 100, MemoryBytes: 1 << 30},
		},
		"two of three Pods of a Deployment, which finds them": {
			cluster(web, owned("web-1-a", crashes), owned("web-1-b", crashes), owned("web-1-c", "status: {phase: Running}")),
			finding.Requests{CPUMillis: 1000, MemoryBytes: 2 << 30},
		},
		"a Deployment that says itself that it does not progress": {
			cluster(of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1}", "status: {conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}"), owned("web-1-a", crashes)),
			finding.Requests{CPUMillis: 500, MemoryBytes: 1 << 30},
		},
		"a Pod that runs again":       {cluster(web, owned("web-1-a", runs)), finding.Requests{}},
		"a Pod that waits for a Node": {of("v1 Pod shop/a", "creationTimestamp: '2026-01-01T00:00:00Z'", spec, "status: {phase: Pending}"), finding.Requests{}},
		"a Pod that failed":           {of("v1 Pod shop/a", "", spec, "status: {phase: Failed}"), finding.Requests{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := find(t, scenario{cluster: test.cluster})
			if len(found) != 1 {
				t.Fatalf("found:\n%s", lines(found))
			}
			if got := found[0].Requests; got != test.want {
				t.Errorf("it holds %+v, want %+v", got, test.want)
			}
		})
	}
}
