// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestGuardrails is of a Cleaner that a person must approve, and that only reports for a while.
func TestGuardrails(t *testing.T) {
	until := metav1.NewTime(nominal.Add(time.Hour))
	c := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{
		Action: ptr.To(v1alpha1.ActionDelete), Approval: &v1alpha1.Approval{Mode: v1alpha1.ApprovalRequired}, ScanUntil: &until,
	}}
	scans := Guardrail{"spec.scanUntil", "only reports until " + until.UTC().Format(time.RFC3339)}
	approval := Guardrail{"spec.approval", "a person must approve the plan of each run, within 3 days"}
	rails := guardrails(c, nominal.Time)
	if !slices.Contains(rails, scans) || !slices.Contains(rails, approval) ||
		!slices.Contains(rails, Guardrail{"spec.rollback", "keeps copies (Secret) for 7 days"}) {
		t.Errorf("the guardrails are %+v", rails)
	}
	if rails = guardrails(c, until.Time); slices.Contains(rails, scans) {
		t.Errorf("it reports no more: %+v", rails)
	}
	for d, want := range map[time.Duration]string{
		24 * time.Hour: "1 day", 36 * time.Hour: "36 hours", 90 * time.Second: "1m30s",
	} {
		if got := daysOrHours(d); got != want {
			t.Errorf("%s is %q", d, got)
		}
	}
}
