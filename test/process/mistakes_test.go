// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// A mistake becomes a condition at once. How long it took is printed beside its target, and not judged: other tests share the machine.
func TestMistakesBecomeConditionsAtOnce(t *testing.T) {
	c := newClient(t)
	m := startManager(t)
	eventually(t, "the manager leads", func(ctx context.Context) (bool, error) {
		var lease leaseHolder
		err := lease.read(ctx, c)
		return lease.holder != "" && m.probe("/readyz") == 200, client.IgnoreNotFound(err)
	})
	for name, test := range map[string]struct {
		reason string
		edit   func(*v1alpha1.CleanerSpec)
	}{
		"bad-cron": {v1alpha1.ReasonInvalidSchedule, func(s *v1alpha1.CleanerSpec) { s.Schedule = "0 0 31 2 *" }},
		"bad-lua": {v1alpha1.ReasonInvalidExpression, func(s *v1alpha1.CleanerSpec) {
			s.ResourcePolicySet.ResourceSelectors[0].Evaluate = "function evaluate("
		}},
		"bad-kind": {v1alpha1.ReasonUnknownKind, func(s *v1alpha1.CleanerSpec) { s.ResourcePolicySet.ResourceSelectors[0].Kind = "ConfigMapp" }},
	} {
		t.Run(name, func(t *testing.T) {
			cleaner := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: name}}
			cleaner.Spec.Schedule = "@daily"
			cleaner.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{Version: "v1", Kind: "ConfigMap"}}
			test.edit(&cleaner.Spec)
			start := time.Now()
			must(t, c.Create(t.Context(), cleaner))
			eventually(t, "the condition is there", func(ctx context.Context) (bool, error) {
				err := c.Get(ctx, client.ObjectKeyFromObject(cleaner), cleaner)
				ready := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionReady)
				return ready != nil && ready.Reason == test.reason, err
			})
			measured(t, "a mistake becomes the condition "+test.reason, time.Since(start), time.Second)
			t.Log(meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionReady).Message)
		})
	}
}
