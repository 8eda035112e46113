// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// TestFinding: a selector that asks for a finding matches what was found, and nothing where there is nobody to ask.
func TestFinding(t *testing.T) {
	t.Parallel()
	asks := v1alpha1.ResourceSelector{Version: "v1", Kind: "ConfigMap", Finding: &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnused}}
	finds := func(o object.Object) (Finding, bool) {
		return Finding{Reason: "nothing names it", Data: object.JSON(`{"finding":{"type":"Unused"}}`)}, o.Name == "unused"
	}
	for name, test := range map[string]struct {
		spec    v1alpha1.ResourceSelector
		judge   Judge
		object  string
		matches bool
		message string
	}{
		"found":         {asks, Judge{Finding: finds}, "unused", true, "nothing names it"},
		"not found":     {asks, Judge{Finding: finds}, "used", false, ""},
		"nobody to ask": {asks, Judge{}, "unused", false, ""},
		"not asked for": {v1alpha1.ResourceSelector{Version: "v1", Kind: "ConfigMap"}, Judge{}, "used", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := New(0, test.spec, test.judge, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			matches, message, err := s.Again(t.Context(), object.Object{Name: test.object}, Scope{Cluster: true})
			if err != nil || matches != test.matches || message != test.message {
				t.Errorf("it is %t, %q, %v", matches, message, err)
			}
		})
	}
}

// TestStuckIsBeingDeleted: only what is being deleted can be Stuck, whatever excludeDeleted says; the default of the API is true.
func TestStuckIsBeingDeleted(t *testing.T) {
	t.Parallel()
	for typ, want := range map[v1alpha1.FindingType]bool{v1alpha1.FindingStuck: true, v1alpha1.FindingUnused: false} {
		spec := v1alpha1.ResourceSelector{Version: "v1", Kind: "Pod", ExcludeDeleted: ptr.To(true), Finding: &v1alpha1.FindingSelector{Type: typ}}
		s, err := New(0, spec, Judge{Finding: func(object.Object) (Finding, bool) { return Finding{}, true }}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if matches, _, err := s.Again(t.Context(), object.Object{Name: "p", Deleting: true}, Scope{Cluster: true}); err != nil || matches != want {
			t.Errorf("%s: it matches: %t, %v", typ, matches, err)
		}
	}
}
