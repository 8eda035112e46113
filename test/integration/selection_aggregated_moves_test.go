// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// A Pod that is created where the run has looked already, and deleted where it has not looked yet, is in neither list. What it uses is
// in use all the time. So everything is read a second time.
func TestReferenceThatMovesBetweenTwoLists(t *testing.T) {
	t.Parallel()
	for name, pods := range map[string]func(first, second string) []v1alpha1.ResourceSelector{
		"two selectors": func(first, second string) []v1alpha1.ResourceSelector {
			return []v1alpha1.ResourceSelector{kind("", "v1", "Pod", first), kind("", "v1", "Pod", second)}
		},
		"one selector": func(first, second string) []v1alpha1.ResourceSelector {
			return []v1alpha1.ResourceSelector{{
				Version: "v1", Kind: "Pod", NamespaceSelector: "kubernetes.io/metadata.name in (" + first + "," + second + ")",
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			first, second := *b, *b
			first.namespace, second.namespace = b.newNamespace(nil), b.newNamespace(nil)
			if first.namespace > second.namespace { // they are read in this order
				first.namespace, second.namespace = second.namespace, first.namespace
			}
			first.serviceAccount()
			second.serviceAccount()
			b.configMap("settings")
			b.configMap("unused")
			second.pod("user", "settings")
			b.beforeFirst(http.MethodGet, "/"+second.namespace+"/pods", func() {
				first.pod("user", "settings")
				gone := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: second.namespace, Name: "user"}}
				must(t, b.user.Delete(t.Context(), gone, client.GracePeriodSeconds(0)))
			})
			kinds := append([]v1alpha1.ResourceSelector{kind("", "v1", "ConfigMap", b.namespace)}, pods(first.namespace, second.namespace)...)
			run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(kinds...), aggregated(unusedConfigMaps)))
			if !b.exists("settings") || b.exists("unused") {
				t.Errorf("a Pod uses the one all the time, and none the other: %s", run.Status.Message)
			}
			wantOutcome(t, run, "settings", v1alpha1.OutcomeChanged)
		})
	}
}

// A reference may also move to an object of the list that was read first, that of what the script chooses from: two lists do not show it
// either.
func TestReferenceThatMovesToTheFirstList(t *testing.T) {
	t.Parallel()
	const unnamed = `function evaluate()
  local used, unused = {holder = true}, {}
  for _, r in ipairs(resources) do used[(r.metadata.annotations or {}).uses or ""] = true end
  for _, r in ipairs(resources) do
    if r.kind == "ConfigMap" and not used[r.metadata.name] then table.insert(unused, {resource = r, message = "unused"}) end
  end
  return {resources = unused}
end`
	b := newBench(t)
	b.configMap("settings")
	b.configMap("unused")
	holder := b.configMap("holder")
	user := b.secret("user")
	uses := func(o client.Object, name string) {
		before := o.DeepCopyObject().(client.Object)
		o.SetAnnotations(map[string]string{"uses": name})
		must(t, b.user.Patch(t.Context(), o, client.MergeFrom(before)))
	}
	uses(user, "settings")
	b.beforeFirst(http.MethodGet, "/"+b.namespace+"/secrets", func() {
		uses(holder, "settings")
		uses(user, "nothing")
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete, aggregated(unnamed),
		selecting(kind("", "v1", "ConfigMap", b.namespace), kind("", "v1", "Secret", b.namespace))))
	if !b.exists("settings") || b.exists("unused") {
		t.Errorf("one object or another names the one all the time, and none the other: %s", run.Status.Message)
	}
	wantOutcome(t, run, "settings", v1alpha1.OutcomeChanged)
}
