// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// However many Cleaners share objects, there is one line for each, and it names one that selects all of them, if there is.
func TestShare(t *testing.T) {
	t.Parallel()
	var cleaners []*v1alpha1.Cleaner
	add := func(name string, action v1alpha1.Action, namespace, label string) {
		c := &v1alpha1.Cleaner{}
		c.Name, c.Spec.Action = name, ptr.To(action)
		s := v1alpha1.ResourceSelector{Version: "v1", Kind: "Pod", Namespace: namespace}
		if label != "" {
			s.LabelFilters = []v1alpha1.LabelFilter{{Key: "team", Operation: v1alpha1.OperationEqual, Value: &label}}
		}
		c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{s}
		cleaners = append(cleaners, c)
	}
	for i := range 40 {
		add(fmt.Sprint("team-", i), v1alpha1.ActionDelete, "", fmt.Sprint(i))
		add(fmt.Sprint("namespace-", i), v1alpha1.ActionTransform, fmt.Sprint(i), "")
	}
	add("apart", v1alpha1.ActionScan, "", "")
	add("all", v1alpha1.ActionDelete, "", "")
	add("all", v1alpha1.ActionTransform, "", "")
	found := Share(cleaners)
	if len(found) != 80 {
		t.Fatalf("%d lines for 80 Cleaners", len(found))
	}
	for _, s := range found {
		want := "other also selects every Pod that this selector selects, and both Cleaners act on them; it also overlaps with 1 other Cleaner"
		if s.More > 1 {
			want = fmt.Sprintf("other also selects every Pod that this selector selects, and both Cleaners act on them; it also overlaps with %d other Cleaners", s.More)
		}
		if got := s.Words("other"); got != want || cleaners[s.Other].Name != "all" || s.More == 0 {
			t.Errorf("%s: %s: %s", cleaners[s.At].Name, cleaners[s.Other].Name, got)
		}
	}
	some := Share(cleaners[:2])
	if len(some) != 1 || some[0].Words("other") != "other can also select some of the Pod objects that this selector selects, and both Cleaners act on them" {
		t.Errorf("two that share some: %+v", some)
	}
}
