// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// Whoever follows the hint must not delete what the Cleaner is written to change.
func TestArmHint(t *testing.T) {
	const toDelete = "to delete what matches instead of reporting it, set spec.action to Delete, and preview again"
	const toChange = "to change what matches instead of reporting it, set spec.action to Transform, and preview again"
	found := func(typ v1alpha1.FindingType) func(*v1alpha1.CleanerSpec) {
		return func(s *v1alpha1.CleanerSpec) {
			s.ResourcePolicySet.ResourceSelectors[0].Finding = &v1alpha1.FindingSelector{Type: typ}
		}
	}
	tests := map[string]struct {
		edit func(*v1alpha1.CleanerSpec)
		want string
	}{
		"nothing to change": {func(*v1alpha1.CleanerSpec) {}, toDelete},
		"a script":          {func(s *v1alpha1.CleanerSpec) { s.Transform = "function transform() end" }, toChange},
		"a patch":           {func(s *v1alpha1.CleanerSpec) { s.MergePatch = &runtime.RawExtension{Raw: []byte(`{}`)} }, toChange},
		"a limit": {func(s *v1alpha1.CleanerSpec) {
			s.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To(int32(1))}
		}, toDelete},
		"a limit of zero": {func(s *v1alpha1.CleanerSpec) {
			s.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To(int32(0))}
		}, ""},
		"a finding":                  {found(v1alpha1.FindingUnused), toDelete},
		"a finding that is reported": {found(v1alpha1.FindingCascading), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := &v1alpha1.Cleaner{}
			c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{Version: "v1", Kind: "ConfigMap"}}
			test.edit(&c.Spec)
			if got := armHint(c); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestArmHintOfProtected: with the action Delete, nothing of what a Scan reports would be deleted where all is protected.
func TestArmHintOfProtected(t *testing.T) {
	for detail, want := range map[string]bool{"": true, "namespace kube-system is protected": false} {
		found := result{Action: v1alpha1.ActionScan}
		found.count(stage.Outcome{Result: v1alpha1.OutcomeMatched, Detail: detail}, false)
		j := &job{options: &options{}}
		if got := j.arm(&v1alpha1.Cleaner{}, &found); (got != "") != want {
			t.Errorf("%q: it says %q", detail, got)
		}
	}
}
