// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestLossOf is of what a person must know before approving a plan.
func TestLossOf(t *testing.T) {
	of := func(storage v1alpha1.CopyStorage, kind string) string {
		cleaner := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{
			Rollback: &v1alpha1.Rollback{Storage: storage},
			ResourcePolicySet: v1alpha1.ResourcePolicySet{ResourceSelectors: []v1alpha1.ResourceSelector{{
				Version: "v1", Kind: kind,
			}}},
		}}
		planned := outcome("shop", "old", v1alpha1.OutcomePlanned)
		planned.Kind = kind
		return strings.Join(lossOf(cleaner, &v1alpha1.CleanerRun{
			Spec:   v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete},
			Status: v1alpha1.CleanerRunStatus{Objects: []v1alpha1.ObjectOutcome{planned}},
		}), "\n")
	}
	const secret = v1alpha1.StorageSecret
	for name, test := range map[string]struct{ got, want string }{
		"claim":     {of(secret, "PersistentVolumeClaim"), "data of its volume is deleted"},
		"named":     {of(secret, "PersistentVolumeClaim"), "The plan has, of such kinds, 1 PersistentVolumeClaim (shop/old)."},
		"namespace": {of(secret, "Namespace"), "in a Namespace is deleted with it"},
		"pod":       {of(secret, "Pod"), "No copy is kept of Pod objects that a controller manages"},
		"no copies": {of(v1alpha1.StorageNone, "ConfigMap"), "No copy is kept of any object"},
	} {
		if !strings.Contains(test.got, test.want) {
			t.Errorf("%s: %q", name, test.got)
		}
	}
	if got := of(secret, "ConfigMap"); got != "" {
		t.Errorf("of a ConfigMap, which has a copy: %q", got)
	}
}

// TestLossOfAKind: the page warns before somebody makes a Cleaner, by the same rules.
func TestLossOfAKind(t *testing.T) {
	page := visit(t, env.Config)
	for query, want := range map[string]string{
		"kind=PersistentVolumeClaim": "data of its volume is deleted",
		"kind=Pod":                   "No copy is kept of Pod objects that a controller manages",
		"group=batch&kind=Job":       "No copy is kept of finished Jobs",
		"kind=ConfigMap":             "",
		"group=example.com&kind=Pod": "",
	} {
		var got Loss
		page.wants(http.StatusOK, http.MethodGet, "loss?"+query, nil, &got)
		text := strings.Join(got.Warnings, " ")
		if !strings.Contains(text, want) || want == "" && text != "" {
			t.Errorf("%s: %q", query, text)
		}
	}
}
