// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// A run that keeps no copy leaves nothing that stands for copies: it would be counted as one that keeps some. Copies of
// Secrets alone leave nothing in S3.
func TestRunsThatKeepNoCopies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		storage v1alpha1.CopyStorage
		victim  func(*bench)
		labels  int
	}{
		"None":               {v1alpha1.StorageNone, func(b *bench) { b.configMap("old", stale) }, 0},
		"stateless":          {v1alpha1.StorageSecret, (*bench).statelessPod, 0},
		"stateless, in S3":   {v1alpha1.StorageS3, (*bench).statelessPod, 0},
		"one to keep, in S3": {v1alpha1.StorageS3, func(b *bench) { b.configMap("old", stale) }, 1},
		"Secrets, in S3":     {v1alpha1.StorageS3, func(b *bench) { b.secret("password") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.places()
			c.victim(b)
			run := b.run(b.cleaner(v1alpha1.ActionDelete, b.configMapsAndPods(), copying(c.storage), b.secretToo))
			wantRun(t, run, v1alpha1.ReasonCompleted, "1 deleted")
			labels := 0
			for _, secret := range b.parts(run) {
				if _, ok := secret.Labels[v1alpha1.CopiesLabel]; ok {
					labels++
				}
				if data, ok := secret.Data["copies.gz"]; ok {
					t.Errorf("Secret %s has %d bytes of copies", secret.Name, len(data))
				}
			}
			if labels != c.labels {
				t.Errorf("%d Secrets stand for copies, want %d", labels, c.labels)
			}
			if got, kept := len(s.read(run)), b.stored(run).Status.Copies; got != c.labels || (kept != nil) != (c.labels > 0) {
				t.Errorf("there are %d copies, and the record says %+v", got, kept)
			}
			if objects := s.bucket.Objects(t); len(objects) > 0 != (name == "one to keep, in S3") {
				t.Errorf("in S3 are %v", keys(objects))
			}
		})
	}
}

// statelessPod is one that a controller creates again.
func (b *bench) statelessPod() {
	b.t.Helper()
	b.serviceAccount()
	b.pod("user", "old", func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "user", UID: "1", Controller: ptr.To(true)}}
	})
}
