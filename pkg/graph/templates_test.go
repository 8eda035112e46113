// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Where a schema leaves open what a custom resource holds, the templates of Pods in it are found by their shape.
func TestOpenTemplates(t *testing.T) {
	const pod = `{metadata: {labels: {app: web}}, spec: {containers: [{image: i}]}}`
	for name, test := range map[string]struct {
		guess, object string
		want          bool
	}{
		"in an open spec":             {"spec", "{metadata: {namespace: shop, name: w}, spec: {replicas: 0, template: " + pod + "}}", true},
		"in an open template":         {"spec.template", "{metadata: {namespace: shop, name: w}, spec: {template: " + pod + "}}", true},
		"in lists and maps":           {".", "{metadata: {namespace: shop, name: w}, spec: {pools: [{a.b/c: {podTemplate: " + pod + "}}]}}", true},
		"its metadata alone are open": {"spec.template.metadata", "{metadata: {namespace: shop, name: w}, spec: {template: " + pod + "}}", true},
		"it is the object itself":     {".", `{metadata: {namespace: shop, name: w, labels: {app: web}}, spec: {containers: [{image: i}]}}`, true},
		"cluster-scoped":              {"spec", "{metadata: {name: w}, spec: {template: " + pod + "}}", true},
		"of another namespace":        {"spec", "{metadata: {namespace: other, name: w}, spec: {template: " + pod + "}}", false},
		"other labels":                {"spec", "{metadata: {namespace: shop, name: w}, spec: {template: {metadata: {labels: {app: db}}, spec: {containers: []}}}}", false},
		"nothing that runs":           {"spec", "{metadata: {namespace: shop, name: w}, spec: {template: {metadata: {labels: {app: web}}, spec: {rules: []}}}}", false},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := NewTable([]Source{{Kind: "Widget.example.com", Guess: []string{test.guess}}})
			if err != nil {
				t.Fatal(err)
			}
			if kind := (schema.GroupKind{Group: "example.com", Kind: "Widget"}); !slices.Contains(table.PodKinds(), kind) {
				t.Error("the table does not know that Widgets may hold templates")
			}
			budget := named("PodDisruptionBudget.policy shop/web")
			g := New(table, nil)
			g.Select(budget, labels.SelectorFromSet(labels.Set{"app": "web"}))
			g.Add(loaded(t, "{apiVersion: example.com/v1, kind: Widget, "+strings.TrimPrefix(test.object, "{"))[0].Parts())
			if got := g.SelectsAny(budget); got != test.want {
				t.Errorf("the budget selects something: %t", got)
			}
		})
	}
}
