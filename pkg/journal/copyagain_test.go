// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// When copying panics for one object, the others of its group are not taken for copied.
func TestPanicWhileAGroupIsCopied(t *testing.T) {
	t.Parallel()
	victim := Victim{Candidate: stage.Candidate{Object: object.Object{Kind: object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Resource: "configmaps", Namespaced: true}, Namespace: "a", Name: "b"}}}
	l := &Ledger{copies: &copies{storage: v1alpha1.StorageSecret}} // without anything to copy to
	g, i := l.join(victim)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("copying does not panic")
			}
		}()
		_ = l.CopyAgain(t.Context(), victim)
	}()
	if l.leave(g) {
		t.Error("the group waits after a member of it was copied")
	}
	if g.errs[i] == nil {
		t.Error("the other object is taken for copied")
	}
}
