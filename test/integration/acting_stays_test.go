// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// annotate sets an annotation of an object.
func (b *bench) annotate(u *unstructured.Unstructured, key, value string) {
	b.t.Helper()
	u.SetAnnotations(map[string]string{key: value})
	must(b.t, b.user.Update(b.t.Context(), u))
}

// No Cleaner touches a restored object, also not by its owner.
func TestOwnerOfARestoredObjectStays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	owner := b.deployment("old", false)
	pod := b.owned("v1", "Pod", "back", false, map[string]any{"spec": podSpec()}, owner)
	b.annotate(pod, v1alpha1.RestoredFromAnnotation, "some-run")
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(kind("apps", "v1", "Deployment", b.namespace))))
	wantOutcome(t, run, "old", v1alpha1.OutcomeProtected,
		"Pod "+b.namespace+"/back would be deleted with it, and is annotated "+v1alpha1.RestoredFromAnnotation)
}

// What could not be judged is left alone: what owns it stays as well, whatever its kind is, and so does its Namespace.
func TestOwnerOfWhatCouldNotBeJudgedStays(t *testing.T) {
	must(t, installWidgets())
	b := newBench(t)
	mark := map[string]string{"stays": b.namespace}
	held := b.newNamespace(mark)
	upper := b.owned(widgetGroup+"/v1", "Widget", "upper", false, nil)
	lower := b.owned(widgetGroup+"/v1", "Widget", "lower", false, nil, upper)
	b.owned(widgetGroup+"/v1", "Widget", "gone", false, nil)
	plain := b.owned("v1", "Service", "plain", false, map[string]any{"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}})
	b.owned("v1", "ConfigMap", "odd", false, nil, lower, plain)
	b.thing(schema.FromAPIVersionAndKind("v1", "ConfigMap"), "odd-too", map[string]any{"metadata": map[string]any{"namespace": held}})
	named := kind("", "v1", "ConfigMap", "")
	named.MatchConditions = []v1alpha1.MatchCondition{{Name: "odd", Expression: `object.metadata.name.startsWith("odd") && object.data.x == "y"`}}
	namespaces := kind("", "v1", "Namespace", "")
	namespaces.LabelFilters = []v1alpha1.LabelFilter{{Key: "stays", Operation: v1alpha1.OperationEqual, Value: &b.namespace}}
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(kind(widgetGroup, "v1", "Widget", b.namespace), named, namespaces, kind("", "v1", "Service", b.namespace)), skips))
	for name, found := range map[string]string{"upper": b.namespace + "/odd", "plain": b.namespace + "/odd", "lower": b.namespace + "/odd", held: held + "/odd-too"} {
		wantOutcome(t, run, name, v1alpha1.OutcomeProtected, "ConfigMap "+found+" would be deleted with it, and could not be judged")
	}
	wantOutcome(t, run, "gone", v1alpha1.OutcomeDeleted)
	wantOutcome(t, run, "odd", v1alpha1.OutcomeNotEvaluated)
}

// The control plane deletes the Pods of a Node that is gone.
func TestNodeOfAProtectedPodStays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	kept, gone := "kept-"+b.namespace, "gone-"+b.namespace
	for _, name := range []string{kept, gone} {
		b.thing(schema.FromAPIVersionAndKind("v1", "Node"), name, map[string]any{"metadata": map[string]any{"labels": map[string]any{"bench": b.namespace}}})
		spec := podSpec()
		spec["nodeName"] = name
		b.owned("v1", "Pod", name, name == kept, map[string]any{"spec": spec})
	}
	nodes := kind("", "v1", "Node", "")
	nodes.LabelFilters = []v1alpha1.LabelFilter{{Key: "bench", Operation: v1alpha1.OperationEqual, Value: &b.namespace}}
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(nodes), propagating(metav1.DeletePropagationBackground)))
	wantOutcome(t, run, kept, v1alpha1.OutcomeProtected, "Pod "+b.namespace+"/"+kept+wouldGo)
	wantOutcome(t, run, gone, v1alpha1.OutcomeDeleted)
}
