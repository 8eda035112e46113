// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// TestVersionThatShowsLess than is stored: a copy would lack the rest, and nothing is touched. Through a version that shows all, it is.
func TestVersionThatShowsLess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	kind := func(version string) object.Kind {
		return object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "versions.example.com", Version: version, Kind: "Double"}, Resource: "doubles", Namespaced: true}
	}
	old, same := version("v1", "a"), version("v3", "a", "b")
	old["storage"], same["storage"] = false, false
	b.define(kind("v2"), old, version("v2", "a", "b"), same)
	b.served(kind("v1"))
	b.served(kind("v3"))
	o := b.create(kind("v2"), map[string]any{
		"apiVersion": "versions.example.com/v2", "kind": "Double", "metadata": map[string]any{"name": "x", "namespace": b.namespace},
		"spec": map[string]any{"a": "a", "b": "production data"},
	})
	record := b.run(b.cleaner(v1alpha1.ActionDelete, []schema.GroupVersionKind{kind("v1").GroupVersionKind}))
	const want = "the API server stores Double objects in version v2 of versions.example.com. That version has the field spec.b, and version v1 does not; without a conversion webhook, the field cannot be seen there. Set version: v2 in the selector"
	if record.Status.Reason != v1alpha1.ReasonViewIncomplete || !strings.Contains(record.Status.Message, want) {
		t.Errorf("it ended with %s: %s", record.Status.Reason, record.Status.Message)
	}
	if spec := fmt.Sprint(b.get(o)["spec"]); spec != "map[a:a b:production data]" {
		t.Fatalf("the spec is %s", spec)
	}
	wantActed(t, b.run(b.cleaner(v1alpha1.ActionDelete, []schema.GroupVersionKind{kind("v3").GroupVersionKind})), 1)
	b.gone(o)

	o = b.create(kind("v2"), map[string]any{
		"apiVersion": "versions.example.com/v2", "kind": "Double", "metadata": map[string]any{"name": "y", "namespace": b.namespace},
	})
	wantActed(t, b.run(b.cleaner(v1alpha1.ActionDelete, []schema.GroupVersionKind{kind("v1").GroupVersionKind}, func(c *v1alpha1.Cleaner) {
		c.Spec.Rollback = &v1alpha1.Rollback{Storage: v1alpha1.StorageNone} // there is no copy that could lack anything
	})), 1)
	b.gone(o)
}
