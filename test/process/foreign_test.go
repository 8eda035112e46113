// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestForeignWriteIsSeenAtOnce: the operator does not wait until the Cleaner is due to say that another controller writes its status.
func TestForeignWriteIsSeenAtOnce(t *testing.T) {
	c := newClient(t)
	startManager(t)
	cleaner := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}}
	cleaner.Spec.Schedule = "0 0 1 1 *"
	cleaner.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{Version: "v1", Kind: "ConfigMap", Namespace: "default"}}
	must(t, c.Create(t.Context(), cleaner))
	t.Cleanup(func() { _ = c.Delete(context.Background(), cleaner) })
	becomes := func(reason string) {
		t.Helper()
		eventually(t, "the Cleaner is "+reason, func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(cleaner), cleaner)
			ready := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionReady)
			return ready != nil && ready.Reason == reason, err
		})
	}
	becomes(v1alpha1.ReasonScheduled)
	before := cleaner.DeepCopy()
	now := metav1.Now()
	cleaner.Status.LastRunTime = &now
	must(t, c.Status().Patch(t.Context(), cleaner, client.MergeFrom(before), client.FieldOwner("manager")))
	becomes(v1alpha1.ReasonForeignController)
}
