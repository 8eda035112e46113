// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// The record counts the capacity of the claims that a run deleted, and only of those.
func TestRecordCountsFreedBytes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, size := range map[string]string{"data-a": "2Gi", "data-b": "1Gi", "kept": "8Gi"} {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name, Labels: map[string]string{"test": ""}}}
		if name == "kept" {
			claim.Annotations = map[string]string{"cleaner/protect": "true"}
		}
		claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
		claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
		must(t, b.user.Create(t.Context(), claim))
		claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: claim.Spec.Resources.Requests}
		must(t, b.user.Status().Update(t.Context(), claim))
	}
	run := b.run(b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) {
		c.Spec.ResourcePolicySet.ResourceSelectors[0].Kind = "PersistentVolumeClaim"
	}))
	wantRun(t, run, v1alpha1.ReasonCompleted, "(3Gi of volumes)")
	if want := int64(3 << 30); run.Status.FreedBytes != want {
		t.Errorf("the record counts %d bytes, want %d: %s", run.Status.FreedBytes, want, run.Status.Message)
	}
}
