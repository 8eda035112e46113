// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"fmt"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

// BenchmarkPods shows what it takes to look at a Pod that runs for all findings, after the object was read.
func BenchmarkPods(b *testing.B) {
	variables := ""
	for i := range 40 {
		variables += fmt.Sprintf("{name: VARIABLE_%d, value: some text of some length}, ", i)
	}
	o := load(b, of("v1 Pod shop/web", "labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}]",
		"spec: {nodeName: one, containers: [{name: a, image: i, env: ["+variables+"{name: A, valueFrom: {configMapKeyRef: {name: a, key: a}}}]}]}",
		"status: {phase: Running, containerStatuses: [{name: a, state: {running: {}}}]}"), 1, served(b))
	f := finding.New(finding.Options{Table: tableOf(b), Served: served(b), Now: now})
	node := load(b, of("v1 Node one", ""), 2, served(b))
	for _, list := range f.Lists() {
		if list.Kind.Kind == "Node" {
			f.Look(list, node)
		}
		if list.Kind.Kind == "Pod" {
			b.SetBytes(int64(len(o.Raw)))
			b.ReportAllocs()
			for b.Loop() {
				f.Look(list, o)
			}
		}
	}
}
