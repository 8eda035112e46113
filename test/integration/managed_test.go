// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestManagedObjectsAreNamed: who reads that an object was deleted must know that a tool will make it again.
func TestManagedObjectsAreNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	annotated := func(key, value string) func(*corev1.ConfigMap) {
		return func(cm *corev1.ConfigMap) { cm.Annotations = map[string]string{key: value} }
	}
	b.configMap("argo", stale, annotated("argocd.argoproj.io/tracking-id", "shop:/ConfigMap:x/argo"))
	b.configMap("helm", stale, func(cm *corev1.ConfigMap) {
		cm.Annotations = map[string]string{"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "shop"}
	})
	b.configMap("flux", stale, func(cm *corev1.ConfigMap) {
		metav1.SetMetaDataLabel(&cm.ObjectMeta, "kustomize.toolkit.fluxcd.io/name", "apps")
		metav1.SetMetaDataLabel(&cm.ObjectMeta, "kustomize.toolkit.fluxcd.io/namespace", "flux-system")
	})
	b.configMap("long", stale, annotated("argocd.argoproj.io/tracking-id", strings.Repeat("x", 4000)))
	b.configMap("mine", stale)
	for name, of := range map[string]struct {
		edit func(*v1alpha1.Cleaner)
		said string
	}{
		"by a script": {evaluate(matchStale), "NAME is stale; "},
		"by nothing":  {func(*v1alpha1.Cleaner) {}, ""},
	} {
		run := b.run(b.cleaner(v1alpha1.ActionScan, of.edit))
		for _, o := range run.Status.Objects {
			by := map[string]string{
				"argo": "managed by Argo CD application shop", "helm": "managed by Helm release shop/web", "flux": "managed by Flux Kustomization flux-system/apps",
				"long": "managed by Argo CD application " + strings.Repeat("x", 128-len("Argo CD application ")-len("…")) + "…",
			}[o.Name]
			want := strings.TrimSuffix(strings.ReplaceAll(of.said, "NAME", o.Name)+by, "; ")
			if o.Message != want {
				t.Errorf("%s: the message on %s is %q, want %q", name, o.Name, o.Message, want)
			}
		}
		if len(run.Status.Objects) != 5 {
			t.Errorf("%s: %d objects are listed", name, len(run.Status.Objects))
		}
	}
	deleted := b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale)))
	for _, o := range deleted.Status.Objects {
		if o.Name == "helm" && (o.Outcome != v1alpha1.OutcomeDeleted || o.Message != "helm is stale; managed by Helm release shop/web") {
			t.Errorf("of helm, the record says %s: %s", o.Outcome, o.Message)
		}
	}
}
