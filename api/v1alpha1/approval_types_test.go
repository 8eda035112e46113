// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "testing"

// TestNeedsApproval: whoever writes spec.approval at all wants to be asked. Only the word None says otherwise.
func TestNeedsApproval(t *testing.T) {
	hour := int64(3600)
	for name, test := range map[string]struct {
		approval *Approval
		want     bool
	}{
		"unset":          {nil, false},
		"empty":          {&Approval{}, true},
		"only an expiry": {&Approval{ExpiresAfterSeconds: &hour}, true},
		"Required":       {&Approval{Mode: ApprovalRequired}, true},
		"None":           {&Approval{Mode: ApprovalNone, ExpiresAfterSeconds: &hour}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for action, want := range map[Action]bool{ActionDelete: test.want, ActionTransform: test.want, ActionScan: false} {
				c := &Cleaner{Spec: CleanerSpec{Action: &action, Approval: test.approval}}
				if got := c.NeedsApproval(); got != want {
					t.Errorf("%s with %+v needs approval: %t, want %t", action, test.approval, got, want)
				}
			}
		})
	}
}
