// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// changeNamespace changes the bench's namespace while a run goes on.
func (b *bench) changeNamespace(change func(*corev1.Namespace)) {
	var namespace corev1.Namespace
	if err := b.user.Get(context.Background(), client.ObjectKey{Name: b.namespace}, &namespace); err != nil {
		b.t.Error(err)
	}
	change(&namespace)
	if err := b.user.Update(context.Background(), &namespace); err != nil {
		b.t.Error(err)
	}
}

// TestNamespaceThatChangesDuringARun: what selects a namespace, and what protects it, holds until the object is deleted: what is read
// again before, and what is judged again live, is judged with the namespace as it is then.
func TestNamespaceThatChangesDuringARun(t *testing.T) {
	t.Parallel()
	relabel := func(namespace *corev1.Namespace) { namespace.Labels["clean"] = "no" }
	protect := func(namespace *corev1.Namespace) {
		namespace.Annotations = map[string]string{v1alpha1.ProtectAnnotation: "true"}
	}
	for name, test := range map[string]struct {
		method, path string
		change       func(*corev1.Namespace)
		edited       bool // the object changes, too
		want         v1alpha1.OutcomeResult
	}{
		"not selected any more":                   {http.MethodGet, "/configmaps", relabel, false, v1alpha1.OutcomeChanged},
		"not selected any more, and judged again": {http.MethodDelete, "/old", relabel, true, v1alpha1.OutcomeChanged},
		"protected, and judged again":             {http.MethodDelete, "/old", protect, true, v1alpha1.OutcomeProtected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			label := "me-" + b.namespace
			b.namespace = b.newNamespace(map[string]string{"clean": label})
			b.configMap("old")
			b.beforeFirst(test.method, test.path, func() {
				b.changeNamespace(test.change)
				if test.edited {
					update(func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"life": "production"} })(b)
				}
			})
			run := b.run(b.cleaner(v1alpha1.ActionDelete, in("", "clean="+label)))
			wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 1 object matched; 0 deleted, 1 left alone.")
			if !b.exists("old") || run.Status.Objects[0].Outcome != test.want {
				t.Errorf("it was %s: %s", run.Status.Objects[0].Outcome, run.Status.Objects[0].Reason)
			}
		})
	}
}
