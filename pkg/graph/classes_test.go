// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A class that groups of Pods name is used, also in groups within groups.
func TestPrioritiesOfGroupsOfPods(t *testing.T) {
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	group := map[string]any{"name": "g", "priorityClassName": "deep"}
	composite := map[string]any{"name": "c", "compositePodGroupTemplates": []any{map[string]any{"podGroupTemplates": []any{group}}}}
	for kind, spec := range map[string]map[string]any{
		"PodGroup":          {"priorityClassName": "deep"},
		"CompositePodGroup": {"priorityClassName": "deep"},
		"Workload":          {"compositePodGroupTemplates": []any{composite}},
	} {
		o := testObject(t, schema.GroupKind{Group: "scheduling.k8s.io", Kind: kind}, "shop", "w", map[string]any{"spec": spec})
		edges := edgesOf(table, o)
		if len(edges) != 1 || edges[0].To != (Name{GroupKind: priorityClassKind, Name: "deep"}) || edges[0].Strength != Names {
			t.Errorf("a %s names %v", kind, edges)
		}
	}
}
