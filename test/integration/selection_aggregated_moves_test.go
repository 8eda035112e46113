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
// in use all the time. All is read a second time when there are three lists or more, whatever the script chose.
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
