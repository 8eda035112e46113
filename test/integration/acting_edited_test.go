// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// F31: a run goes by the Cleaner as it was when the run began, also when it judges an object again, and its record says which that
// was. The next run goes by the edit. A change to Scan stops the run, but not for the objects in hand.
func TestEditWhileTheRunActs(t *testing.T) {
	t.Parallel()
	edits := map[string]struct {
		edit func(*v1alpha1.Cleaner)
		next string
	}{
		"nothing matches any more":  {func(c *v1alpha1.Cleaner) { evaluate(`function evaluate() return {matching = false} end`)(c) }, "0 of 1 object matched; 0 deleted."},
		"it only reports":           {func(c *v1alpha1.Cleaner) { c.Spec.Action = ptr.To(v1alpha1.ActionScan) }, "1 of 1 object matched."},
		"it selects something else": {func(c *v1alpha1.Cleaner) { c.Spec.ResourcePolicySet.ResourceSelectors[0].Kind = "Lease" }, ""},
	}
	for name, test := range edits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMap("old", stale)
			c := b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale))
			generation := c.Generation
			b.beforeFirst(http.MethodDelete, "/old", func() {
				var live v1alpha1.Cleaner
				must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(c), &live))
				test.edit(&live)
				must(t, b.user.Update(t.Context(), &live))
				update(func(cm *corev1.ConfigMap) { cm.Data["more"] = "1" })(b) // so that it is judged again
			})
			run := b.run(c)
			wantRun(t, run, v1alpha1.ReasonCompleted, "1 deleted.")
			if run.Spec.CleanerGeneration != generation {
				t.Errorf("the record is of generation %d, want %d", run.Spec.CleanerGeneration, generation)
			}
			if test.next == "" {
				return
			}
			b.configMap("old", stale)

			wantRun(t, b.run(c), v1alpha1.ReasonCompleted, test.next)
		})
	}
}

// What goes with a Namespace is not copied: the run says so.
func TestDeletedNamespaceTakesAlong(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.newNamespace(map[string]string{"expired": b.namespace})
	selector := kind("", "v1", "Namespace", "")
	selector.LabelFilters = equal("expired", b.namespace)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(selector)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 1 object matched; 0 deleted, 1 being deleted. Everything in a Namespace is deleted with it. No copy of this is kept.")
	var live corev1.NamespaceList
	must(t, b.user.List(t.Context(), &live, client.MatchingLabels{"expired": b.namespace}))
	for _, namespace := range live.Items {
		if namespace.DeletionTimestamp.IsZero() {
			t.Errorf("%s is not being deleted", namespace.Name)
		}
	}
}

// Nor is the data of a claim's volume.
func TestDeletedClaimTakesAlong(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "data"}}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	must(t, b.user.Create(t.Context(), claim))
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(kind("", "v1", "PersistentVolumeClaim", b.namespace))))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 1 object matched; ",
		". The data of its volume is deleted with a PersistentVolumeClaim (persistentVolumeReclaimPolicy: Retain keeps it). No copy of this is kept.")
}
