// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Two Cleaners that delete the same Pods are a warning, at the one that selects less. One that only reports, or that does
// not run, is none.
func TestOverlaps(t *testing.T) {
	cleaner := func(name string, action v1alpha1.Action, namespace string) v1alpha1.Cleaner {
		c := v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: name}}
		c.Spec.Action = ptr.To(action)
		c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{Version: "v1", Kind: "Pod", Namespace: namespace}}
		return c
	}
	p := &patient{cleaners: []v1alpha1.Cleaner{
		cleaner("shop", v1alpha1.ActionDelete, "shop"),
		cleaner("report", v1alpha1.ActionScan, ""),
		cleaner("all", v1alpha1.ActionDelete, ""),
	}}
	idle := cleaner("idle", v1alpha1.ActionDelete, "")
	idle.Spec.Suspend = ptr.To(true)
	broken := cleaner("broken", v1alpha1.ActionDelete, "")
	broken.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonInvalidSchedule}}
	p.cleaners = append(p.cleaners, idle, broken)
	lines, _ := p.overlaps(t.Context())
	if len(lines) != 1 || lines[0].Status != Warn || lines[0].Object != "Cleaner/shop" ||
		lines[0].Message != "Cleaner all also selects every Pod that this selector selects, and both Cleaners act on them" {
		t.Errorf("doctor says %+v", lines)
	}
}
