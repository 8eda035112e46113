// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestCleanerSaysHowLongItWaits: a preview shows what matches now, and the page says when a run touches that.
func TestCleanerSaysHowLongItWaits(t *testing.T) {
	c := admin(t)
	of := cleaner(t, c, namespace(t, c), func(spec *v1alpha1.CleanerSpec) {
		spec.ResourcePolicySet.ResourceSelectors[0].Finding = &v1alpha1.FindingSelector{
			Type: v1alpha1.FindingUnused, ForSeconds: ptr.To[int64](1_209_600),
		}
	})
	var got CleanerDetail
	visit(t, env.Config).wants(http.StatusOK, http.MethodGet, "cleaners/"+of.Name, nil, &got)
	if got.ForSeconds != 1_209_600 {
		t.Errorf("it waits %d seconds", got.ForSeconds)
	}
}

func TestSelectors(t *testing.T) {
	of := &v1alpha1.Cleaner{}
	of.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{
		{Kind: "ConfigMap"},
		{
			Group: "apps", Kind: "Deployment", Namespace: "shop", LabelFilters: make([]v1alpha1.LabelFilter, 2),
			Finding: &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnused},
		},
	}
	want := []string{
		"ConfigMap objects", "Deployment.apps objects in namespace shop, with the finding Unused, with 2 label filters",
	}
	if got := selectors(of); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestDaysOrHours(t *testing.T) {
	for d, want := range map[time.Duration]string{
		24 * time.Hour: "1 day", 36 * time.Hour: "36 hours", 90 * time.Second: "1m30s",
	} {
		if got := daysOrHours(d); got != want {
			t.Errorf("%s is %q", d, got)
		}
	}
}
