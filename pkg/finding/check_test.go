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
		least       v1alpha1.FindingConfidence
	}{
		"right":     {"", "ConfigMap", v1alpha1.FindingUnused, v1alpha1.ActionDelete, limit, "", ""},
		"a scan":    {"", "ConfigMap", v1alpha1.FindingCascading, v1alpha1.ActionScan, nil, "", ""},
		"no limit":  {"", "ConfigMap", v1alpha1.FindingUnused, v1alpha1.ActionDelete, nil, "blastRadiusLimit: action Delete by a finding needs one; add it, for example {maxCount: 50}", ""},
		"transform": {"", "ConfigMap", v1alpha1.FindingUnused, v1alpha1.ActionTransform, nil, "", ""},
		"no such type": {
			"scheduling.k8s.io", "PriorityClass", v1alpha1.FindingFailed, v1alpha1.ActionScan, nil,
			"resourceSelectors[0].finding.type: kind PriorityClass.scheduling.k8s.io has no finding Failed; it has ", "",
		},
		"not actionable": {
			"", "ConfigMap", v1alpha1.FindingCascading, v1alpha1.ActionDelete, limit,
			"resourceSelectors[0].finding.type: a Cleaner with the finding Cascading may only report ConfigMap objects: " +
				"an object that uses it may start again; delete that object first, then this one is Unused; use action Scan", "",
		},
		"not changed either": {
			"", "ConfigMap", v1alpha1.FindingCascading, v1alpha1.ActionTransform, nil, "resourceSelectors[0].finding.type: a Cleaner with the finding Cascading may only report ConfigMap objects: ", "",
		},
		"a definition whose time is over": {
			"apiextensions.k8s.io", "CustomResourceDefinition", v1alpha1.FindingExpired, v1alpha1.ActionDelete, limit,
			"resourceSelectors[0].finding.type: a Cleaner with the finding Expired may only report CustomResourceDefinition objects: " +
				"deleting it deletes every object of its kind", "",
		},
		"a Node whose time is over": {
			"", "Node", v1alpha1.FindingExpired, v1alpha1.ActionDelete, limit,
			"resourceSelectors[0].finding.type: a Cleaner with the finding Expired may only report Node objects: Pods may still run on it; use action Scan", "",
		},
		"a guard whose time is over": {
			"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", v1alpha1.FindingExpired, v1alpha1.ActionTransform, nil,
			"resourceSelectors[0].finding.type: a Cleaner with the finding Expired may only report ValidatingWebhookConfiguration objects: it guards the cluster's API", "",
		},
		"a policy that nobody needs": {
			"networking.k8s.io", "NetworkPolicy", v1alpha1.FindingUnused, v1alpha1.ActionDelete, limit,
			"resourceSelectors[0].finding.type: a Cleaner with the finding Unused may only report NetworkPolicy objects: without the policy, the traffic that it denies would be allowed", "",
		},
		"never certain": {
			kind: "ConfigMap", typ: v1alpha1.FindingUnused, action: v1alpha1.ActionScan, least: v1alpha1.ConfidenceCertain,
			want: "resourceSelectors[0].finding.minConfidence: no ConfigMap is Unused with confidence Certain, because nothing proves it, so this selects nothing; use Likely",
		},
		"certain at times": {kind: "Secret", typ: v1alpha1.FindingUnused, action: v1alpha1.ActionScan, least: v1alpha1.ConfidenceCertain},
		"of any kind":      {kind: "ConfigMap", typ: v1alpha1.FindingExpired, action: v1alpha1.ActionScan, least: v1alpha1.ConfidenceCertain},
		// Its owner wrote on it that it is to go.
		"a policy whose time is over": {"networking.k8s.io", "NetworkPolicy", v1alpha1.FindingExpired, v1alpha1.ActionDelete, limit, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &v1alpha1.Cleaner{}
			c.Spec.Action, c.Spec.BlastRadiusLimit = &test.action, test.limit
			c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{
				Group: test.group, Version: "v1", Kind: test.kind, Finding: &v1alpha1.FindingSelector{Type: test.typ, MinConfidence: test.least},
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

// TestCheckDialects: pod-reaper's marks are for Pods only.
func TestCheckDialects(t *testing.T) {
	t.Parallel()
	const want = "resourceSelectors[0].finding.dialects: PodReaper marks only Pods, so this selects no ConfigMap; leave dialects out, or select kind Pod"
	for _, test := range []struct {
		kind     string
		dialects []v1alpha1.MarkDialect
		want     string
	}{
		{"ConfigMap", []v1alpha1.MarkDialect{v1alpha1.MarkPodReaper}, want},
		{"ConfigMap", []v1alpha1.MarkDialect{v1alpha1.MarkPodReaper, v1alpha1.MarkMayfly}, ""},
		{"Pod", []v1alpha1.MarkDialect{v1alpha1.MarkPodReaper}, ""},
	} {
		c := &v1alpha1.Cleaner{}
		asked := &v1alpha1.FindingSelector{Type: v1alpha1.FindingExpired, Dialects: test.dialects}
		c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{Version: "v1", Kind: test.kind, Finding: asked}}
		got := ""
		if err := errors.Join(finding.Check(c)...); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s %v: %q, want %q", test.kind, test.dialects, got, test.want)
		}
	}
}
