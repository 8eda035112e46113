// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// An APIService that is not available matters to some Cleaners only.
func TestAPIServices(t *testing.T) {
	t.Parallel()
	cleaner := func(name string, action v1alpha1.Action, s v1alpha1.ResourceSelector) v1alpha1.Cleaner {
		c := v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: name}}
		c.Spec.Action = ptr.To(action)
		c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{s}
		return c
	}
	service := func(group string, conditions ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": "v1." + group}, "spec": map[string]any{"group": group},
			"status": map[string]any{"conditions": conditions},
		}}
	}
	condition := func(status string) any {
		return map[string]any{"type": "Available", "status": status, "reason": "MissingEndpoints", "message": "no endpoints."}
	}
	if why := whyAway(service("a.b", condition("True"))); why != "" {
		t.Errorf("one that is available is %q", why)
	}
	if why := whyAway(service("a.b")); why != "it was never seen to be available" {
		t.Errorf("one without a condition is %q", why)
	}
	p := &patient{cleaners: []v1alpha1.Cleaner{
		cleaner("pods", v1alpha1.ActionDelete, v1alpha1.ResourceSelector{Kind: "Pod"}),
		cleaner("things", v1alpha1.ActionScan, v1alpha1.ResourceSelector{Group: "things.example.com", Kind: "Thing"}),
		cleaner("unused", v1alpha1.ActionScan, v1alpha1.ResourceSelector{
			Kind: "Secret", Finding: &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnused},
		}),
		cleaner("expired", v1alpha1.ActionScan, v1alpha1.ResourceSelector{
			Kind: "Secret", Finding: &v1alpha1.FindingSelector{Type: v1alpha1.FindingExpired},
		}),
		cleaner("previews", v1alpha1.ActionDelete, v1alpha1.ResourceSelector{Kind: "Namespace"}),
		cleaner("reports", v1alpha1.ActionScan, v1alpha1.ResourceSelector{Kind: "Namespace"}),
	}}
	const away = "it is not available (MissingEndpoints: no endpoints): "
	const namespaces = "Cleaners that delete Namespaces delete none, because it is not known what would be deleted with them: previews"
	for group, want := range map[string]string{
		"things.example.com": away + "Cleaners that select its objects touch nothing: things; " +
			"Cleaners with a finding report as Unknown what its objects may use: unused; " + namespaces,
		"custom.metrics.k8s.io": away + namespaces,
	} {
		s := service(group, condition("False"))
		if line := p.apiServiceLine(s, whyAway(s)); line.Status != Fail || line.Message != want || line.Object != "APIService/v1."+group {
			t.Errorf("%s: doctor says %+v", group, line)
		}
	}
	p.cleaners = p.cleaners[:1]
	s := service("things.example.com", condition("False"))
	if line := p.apiServiceLine(s, whyAway(s)); line.Status != Warn ||
		line.Message != away+"a scan cannot look at its objects, and a Namespace that is deleted stays Terminating" {
		t.Errorf("doctor says %+v", line)
	}
}
