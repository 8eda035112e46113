// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"errors"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

// What is wrong is said with the field and the way out, all of it at once.
func TestCheck(t *testing.T) {
	t.Parallel()
	limit := &v1alpha1.BlastRadiusLimit{MaxCount: ptr.To[int32](5)}
	for name, test := range map[string]struct {
		group, kind string
		typ         v1alpha1.FindingType
		action      v1alpha1.Action
		limit       *v1alpha1.BlastRadiusLimit
		want        string
	}{
		"right":     {"", "ConfigMap", v1alpha1.FindingUnused, v1alpha1.ActionDelete, limit, ""},
		"a scan":    {"", "ConfigMap", v1alpha1.FindingCascading, v1alpha1.ActionScan, nil, ""},
		"no limit":  {"", "ConfigMap", v1alpha1.FindingUnused, v1alpha1.ActionDelete, nil, "blastRadiusLimit: action Delete by a finding needs one; add it, for example {maxCount: 50}"},
		"transform": {"", "ConfigMap", v1alpha1.FindingUnused, v1alpha1.ActionTransform, nil, ""},
		"no such type": {
			"scheduling.k8s.io", "PriorityClass", v1alpha1.FindingFailed, v1alpha1.ActionScan, nil,
			"resourceSelectors[0].finding.type: kind PriorityClass.scheduling.k8s.io has no finding Failed; it has ",
		},
		"not actionable": {
			"", "ConfigMap", v1alpha1.FindingCascading, v1alpha1.ActionDelete, limit,
			"resourceSelectors[0].finding.type: no Cleaner may delete or change a ConfigMap because it is Cascading: " +
				"what uses it may be started again; delete that first, and it is Unused; use action Scan",
		},
		"not changed either": {
			"", "ConfigMap", v1alpha1.FindingCascading, v1alpha1.ActionTransform, nil, "resourceSelectors[0].finding.type: no Cleaner may delete or change a ConfigMap because it is Cascading: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &v1alpha1.Cleaner{}
			c.Spec.Action, c.Spec.BlastRadiusLimit = &test.action, test.limit
			c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{
				Group: test.group, Version: "v1", Kind: test.kind, Finding: &v1alpha1.FindingSelector{Type: test.typ},
			}}
			got := ""
			if err := errors.Join(finding.Check(c)...); err != nil {
				got = err.Error()
			}
			if len(got) > len(test.want) && test.want != "" {
				got = got[:len(test.want)]
			}
			if got != test.want {
				t.Errorf("it says\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}
