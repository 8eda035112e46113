// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// An object needs no copy when something makes it anew, and that must show on the object itself: its kind is not enough.
func TestStateless(t *testing.T) {
	t.Parallel()
	const (
		bare       = `{"metadata":{"name":"a"}}`
		controlled = `{"metadata":{"name":"a","ownerReferences":[{"kind":"X","name":"x","uid":"1"},{"kind":"Y","name":"y","uid":"2","controller":true}]}}`
		owned      = `{"metadata":{"name":"a","ownerReferences":[{"kind":"X","name":"x","uid":"1","controller":false}]}}`
		byService  = `{"metadata":{"name":"a","labels":{"endpointslice.kubernetes.io/managed-by":"endpointslice-controller.k8s.io"}}}`
		mirrored   = `{"metadata":{"name":"a","labels":{"endpointslice.kubernetes.io/managed-by":"endpointslicemirroring-controller.k8s.io"}}}`
		byHand     = `{"metadata":{"name":"a","labels":{"endpointslice.kubernetes.io/managed-by":"staff"}}}`
		done       = `{"metadata":{"name":"a"},"status":{"conditions":[{"type":"Complete","status":"True"}]}}`
	)
	tests := map[string]struct {
		group, kind, raw string
		want             bool
	}{
		"a Pod of a ReplicaSet":                {"", "Pod", controlled, true},
		"a Pod without an owner":               {"", "Pod", bare, false},
		"a Pod whose owner does not manage it": {"", "Pod", owned, false},
		"a Pod with another kind's label":      {"", "Pod", byService, false},
		"an EndpointSlice of a Service":        {"discovery.k8s.io", "EndpointSlice", byService, true},
		"a mirrored EndpointSlice":             {"discovery.k8s.io", "EndpointSlice", mirrored, true},
		"a controlled EndpointSlice":           {"discovery.k8s.io", "EndpointSlice", controlled, true},
		"an EndpointSlice made by hand":        {"discovery.k8s.io", "EndpointSlice", bare, false},
		"an EndpointSlice of another manager":  {"discovery.k8s.io", "EndpointSlice", byHand, false},
		"a Lease":                              {"coordination.k8s.io", "Lease", bare, false},
		"a controlled Lease":                   {"coordination.k8s.io", "Lease", controlled, true},
		"a kind of another group":              {"example.com", "Pod", controlled, false},
		"a ReplicaSet of a Deployment":         {"apps", "ReplicaSet", controlled, false},
		"Endpoints":                            {"", "Endpoints", bare, false},
		"an Event":                             {"", "Event", bare, true},
		"an Event of the other group":          {"events.k8s.io", "Event", bare, true},
		"PodMetrics":                           {"metrics.k8s.io", "PodMetrics", bare, true},
		"NodeMetrics":                          {"metrics.k8s.io", "NodeMetrics", bare, true},
		"a Job that has finished":              {"batch", "Job", done, true},
		"a Job that runs":                      {"batch", "Job", controlled, false},
		"a Pod that cannot be decoded":         {"", "Pod", `{"metadata":{"ownerReferences":7}}`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: test.group, Version: "v1", Kind: test.kind}}
			if got := isStateless(object.Object{Kind: kind, Name: "a", Raw: []byte(test.raw)}); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// Every kind of which a run may keep no copy is named, and each once.
func TestMayLackCopies(t *testing.T) {
	cleaner := &v1alpha1.Cleaner{}
	cleaner.Spec.Action = ptr.To(v1alpha1.ActionDelete)
	cleaner.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{
		{Kind: "Pod"}, {Kind: "ConfigMap"}, {Group: "batch", Kind: "Job"}, {Group: "batch", Kind: "Job"},
	}
	const want = "Pod objects that a controller manages, because a controller creates them again; " +
		"nor of finished Jobs, because a Job that has finished does nothing any more"
	if got := MayLackCopies(cleaner); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
