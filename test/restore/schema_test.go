// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// version is one of a definition's, whose spec has the fields.
func version(name string, fields ...string) map[string]any {
	properties := map[string]any{}
	for _, field := range fields {
		properties[field] = map[string]any{"type": "string"}
	}
	return map[string]any{"name": name, "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{
		"type": "object", "properties": map[string]any{"spec": map[string]any{"type": "object", "properties": properties}},
	}}}
}

// define creates the definition of a kind.
func (b *bench) define(kind object.Kind, versions ...any) {
	b.t.Helper()
	name := kind.Resource + "." + kind.Group
	body, err := json.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"group": kind.Group, "scope": "Namespaced", "names": map[string]any{"plural": kind.Resource, "kind": kind.Kind}, "versions": versions,
		},
	})
	must(b.t, err)
	must(b.t, b.raw.Post().AbsPath(definitions).SetHeader("Content-Type", "application/json").Body(body).Do(b.t.Context()).Error())
	b.t.Cleanup(func() { b.raw.Delete().AbsPath(definitions, name).Do(context.Background()) })
	b.served(kind)
}

// forgets takes the fields of a kind's spec out of its schema but those given, and waits until the API server goes by that.
func (b *bench) forgets(o object.Object, lost string, fields ...string) {
	b.t.Helper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"versions": []any{version(o.Kind.Version, fields...)}}})
	must(b.t, err)
	must(b.t, b.raw.Patch(types.MergePatchType).AbsPath(definitions, o.Kind.Resource+"."+o.Kind.Group).Body(patch).Do(b.t.Context()).Error())
	probe, err := json.Marshal(map[string]any{
		"apiVersion": o.Kind.APIVersion(), "kind": o.Kind.Kind, "metadata": map[string]any{"name": "probe"}, "spec": map[string]any{lost: "x"},
	})
	must(b.t, err)
	must(b.t, wait.PollUntilContextTimeout(b.t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		request := b.raw.Post().AbsPath(o.Kind.Path(o.Namespace, "")).SetHeader("Content-Type", "application/json")
		err := request.Param("dryRun", "All").Param("fieldValidation", "Strict").Body(probe).Do(ctx).Error()
		return err != nil && strings.Contains(err.Error(), "unknown field"), nil
	}))
}

// A field that the kind has lost since is told: nothing is brought back without it unless that is asked for, and then that is said.
func TestRestoreOfAFieldThatTheKindHasLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	kind := object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "lost.example.com", Version: "v1", Kind: "Lossy"}, Resource: "lossies", Namespaced: true}
	b.define(kind, version("v1", "kept", "lost"))
	o := b.create(kind, map[string]any{
		"apiVersion": kind.APIVersion(), "kind": "Lossy", "metadata": map[string]any{"name": "x", "namespace": b.namespace},
		"spec": map[string]any{"kept": "a", "lost": "b"},
	})
	record := b.run(b.cleaner(v1alpha1.ActionDelete, []schema.GroupVersionKind{kind.GroupVersionKind}))
	wantActed(t, record, 1)
	b.gone(o)
	b.forgets(o, "lost", "kept")

	item := b.restore(record, restore.Options{}).Items[0]
	if item.Result != restore.Failed || !strings.Contains(item.Reason, `unknown field "spec.lost"`) {
		t.Fatalf("it is %s, %q", item.Result, item.Reason)
	}
	b.gone(o)

	item = b.restore(record, restore.Options{Force: true}).Items[0]
	if item.Result != restore.Restored || len(item.Notes) != 1 || !strings.Contains(item.Notes[0], `it comes back without what its kind does not know any more: `) ||
		!strings.Contains(item.Notes[0], `unknown field "spec.lost"`) {
		t.Fatalf("with --force it is %s, %q, notes %q", item.Result, item.Reason, item.Notes)
	}
	if spec := fmt.Sprint(b.get(o)["spec"]); spec != "map[kept:a]" {
		t.Fatalf("the spec is %s", spec)
	}
}
