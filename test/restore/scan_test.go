// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// TestStoredObjectsGoWithTheRecord: what a Scan stored beside its record is collected when the record is pruned.
func TestStoredObjectsGoWithTheRecord(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 400 {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: fmt.Sprintf("old-%d", i), Labels: map[string]string{labelled: b.namespace}}}
		must(t, b.user.Create(t.Context(), cm))
	}
	c := b.cleaner(v1alpha1.ActionScan, []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("ConfigMap")}, func(c *v1alpha1.Cleaner) {
		c.Spec.ResourcePolicySet.ResourceSelectors[0].Evaluate = `function evaluate() return {matching = true, message = "` + strings.Repeat("unused ", 120) + `"} end`
	})
	run := b.run(c)
	stored := func() int {
		var list corev1.SecretList
		must(t, b.user.List(t.Context(), &list, client.InNamespace(operatorNamespace), client.MatchingLabels{v1alpha1.RunLabel: string(run.UID)}))
		return len(list.Items)
	}
	if n := stored(); n == 0 || run.Status.OtherObjects == nil {
		t.Fatalf("%d Secrets are stored, %+v: %s", n, run.Status.OtherObjects, run.Status.Message)
	}
	none := int32(0)
	c.Spec.SuccessfulRunsHistoryLimit = &none
	must(t, b.journal.Prune(t.Context(), c, &journal.History{}))
	must(t, wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return stored() == 0, nil
	}))
}
