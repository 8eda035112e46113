// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// A field of k8s-cleaner that this version does not honour is refused, not dropped: a script that judges without metrics, or
// a delete without the copy that was asked for, would do harm.
func TestFieldsThatAreNotHonouredAreRefused(t *testing.T) {
	b := newBench(t)
	for field, edit := range map[string]func(*v1alpha1.Cleaner){
		"logSource": func(c *v1alpha1.Cleaner) { selectors(c)[0].LogSource = &v1alpha1.LogSource{} },
	} {
		t.Run(field, func(t *testing.T) {
			c := b.cleaner(v1alpha1.ActionScan)
			edit(c)
			err := b.user.Update(t.Context(), c)
			if err == nil || !strings.Contains(err.Error(), field+" is not supported by this version") {
				t.Fatalf("the API server says %v", err)
			}
			// One that was stored before the CRD knew the rule gets no further than its condition.
			if got := c.Unsupported(); len(got) != 1 || !strings.HasSuffix(got[0], field) {
				t.Fatalf("Unsupported is %v", got)
			}
			reason, message, err := b.runner.Validate(t.Context(), c)
			if err != nil || reason != v1alpha1.ReasonInvalidExpression || !strings.Contains(message, field) {
				t.Fatalf("Validate says %q %q %v", reason, message, err)
			}
		})
	}
}

func selectors(c *v1alpha1.Cleaner) []v1alpha1.ResourceSelector {
	return c.Spec.ResourcePolicySet.ResourceSelectors
}
