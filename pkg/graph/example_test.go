// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// A Graph takes the references of objects as they pass. Then it answers who names an object, and where.
func ExampleGraph() {
	table, err := graph.BuiltIn()
	if err != nil {
		fmt.Println(err)
		return
	}
	g := graph.New(table, nil)
	settings := graph.Name{GroupKind: schema.GroupKind{Kind: "ConfigMap"}, Namespace: "shop", Name: "settings"}
	g.Watch(settings)
	pod := object.Object{
		Kind:      object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Namespaced: true},
		Namespace: "shop", Name: "web",
		Raw: []byte(`{"metadata":{"namespace":"shop","name":"web"},"spec":{"volumes":[{"name":"a","configMap":{"name":"settings"}}]}}`),
	}
	g.Add(pod.Parts())
	for _, evidence := range g.Evidence(settings) {
		fmt.Println(evidence.From, evidence.Path)
	}
	// Output: Pod shop/web spec.volumes[].configMap.name
}
