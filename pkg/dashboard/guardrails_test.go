// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestGuardrails: the page says that a Cleaner only reports, or waits for a person, as long as that is true.
func TestGuardrails(t *testing.T) {
	until := metav1.NewTime(time.Date(2026, time.December, 1, 0, 0, 0, 0, time.UTC))
	required := &v1alpha1.Approval{Mode: v1alpha1.ApprovalRequired}
	const observes = "spec.scanUntil: only reports until 2026-12-01T00:00:00Z"
	for name, test := range map[string]struct {
		action   v1alpha1.Action
		now      time.Time
		approval *v1alpha1.Approval
		why      string
		until    bool
		want     []string
	}{
		"before":       {action: v1alpha1.ActionDelete, now: until.Add(-time.Hour), until: true, want: []string{observes}},
		"said already": {action: v1alpha1.ActionDelete, now: until.Add(-time.Hour), why: "it only reports until 2026-12-01T00:00:00Z, and acts from then on (spec.scanUntil)", until: true, want: []string{observes}},
		"and stopped":  {action: v1alpha1.ActionDelete, now: until.Add(-time.Hour), why: "acting is stopped", until: true, want: []string{"status.dryRunReason: only reports: acting is stopped", observes}},
		"over":         {action: v1alpha1.ActionDelete, now: until.Time},
		"Scan":         {action: v1alpha1.ActionScan, now: until.Add(-time.Hour), approval: required},
		"approval":     {action: v1alpha1.ActionTransform, now: until.Time, approval: required, want: []string{"spec.approval: a person must approve the plan of each run, within 3 days"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{Action: &test.action, ScanUntil: &until, Approval: test.approval}}
			c.Spec.Rollback = &v1alpha1.Rollback{Storage: v1alpha1.StorageNone}
			c.Status.DryRunReason = test.why
			var got []string
			for _, rail := range guardrails(c, test.now) {
				if rail.Field != "spec.onPartialView" {
					got = append(got, rail.Field+": "+rail.Text)
				}
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("the guardrails are %q, want %q", got, test.want)
			}
			if row := rowOf(c, test.now); (row.ScanUntil != nil) != test.until {
				t.Errorf("the row says until %s", fmt.Sprint(row.ScanUntil))
			} else if test.until && (row.ActsAs != test.action || row.DryRunReason == c.Observing(test.now)) {
				t.Errorf("the row says then %q, and why %q", row.ActsAs, row.DryRunReason)
			}
		})
	}
}
