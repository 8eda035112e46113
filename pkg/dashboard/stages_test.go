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

// TestStagesHaveTimes: each stage says when it began and how long it took, as far as the record says it.
func TestStagesHaveTimes(t *testing.T) {
	due := time.Date(2026, 11, 25, 3, 0, 0, 0, time.UTC)
	at := func(seconds int) *metav1.Time {
		return &metav1.Time{Time: due.Add(time.Duration(seconds) * time.Second)}
	}
	plan := &v1alpha1.RunPlan{Objects: 3, ExpirationTime: *at(608)}
	intent := &v1alpha1.RunIntent{}
	for name, test := range map[string]struct {
		action v1alpha1.Action
		status v1alpha1.CleanerRunStatus
		want   string
	}{
		"it reads": {
			v1alpha1.ActionDelete,
			v1alpha1.CleanerRunStatus{},
			"Waited in the queue Done 0 took 3, Read and judged Active 3, Acted Pending, Recorded Pending",
		},
		"it acts": {
			v1alpha1.ActionDelete,
			v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunExecuting, Intent: intent, StartTime: at(2), JudgedTime: at(7)},
			"Waited in the queue Done 0 took 2, Read and judged Done 2 took 5, Acted Active 7, Recorded Pending",
		},
		"it has acted": {
			v1alpha1.ActionDelete,
			v1alpha1.CleanerRunStatus{
				Phase: v1alpha1.RunCompleted, Intent: intent, StartTime: at(2), JudgedTime: at(7), CompletionTime: at(67),
			},
			"Waited in the queue Done 0 took 2, Read and judged Done 2 took 5, Acted Done 7 took 60, Recorded Done 67",
		},
		"nothing matched": {
			v1alpha1.ActionDelete,
			v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted, StartTime: at(-1), JudgedTime: at(7), CompletionTime: at(7)},
			"Waited in the queue Done 0 took 0, Read and judged Done -1 took 8, Acted Done, Recorded Done 7",
		},
		"a Scan": {
			v1alpha1.ActionScan,
			v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted, StartTime: at(2), JudgedTime: at(7), CompletionTime: at(7)},
			"Waited in the queue Done 0 took 2, Read and judged Done 2 took 5, Recorded Done 7",
		},
		"its plan waits": {
			v1alpha1.ActionDelete,
			v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunAwaitingApproval, Plan: plan, StartTime: at(2), JudgedTime: at(7), CompletionTime: at(8)},
			"Waited in the queue Done 0 took 2, Read and judged Done 2 took 5, Recorded Done 8, Waited for a person Active 8, Acted Pending",
		},
		"its plan was approved": {
			v1alpha1.ActionDelete,
			v1alpha1.CleanerRunStatus{
				Phase: v1alpha1.RunCompleted, Reason: v1alpha1.ReasonApproved, Plan: plan, StartTime: at(2), JudgedTime: at(7), CompletionTime: at(8),
			},
			"Waited in the queue Done 0 took 2, Read and judged Done 2 took 5, Recorded Done 8, Waited for a person Done 8 took 60, Acted None",
		},
		"what was said of its plan does not count": {
			v1alpha1.ActionDelete,
			v1alpha1.CleanerRunStatus{
				Phase: v1alpha1.RunCompleted, Reason: v1alpha1.ReasonPlanNotApproved, Plan: plan, StartTime: at(2), JudgedTime: at(7), CompletionTime: at(8),
			},
			"Waited in the queue Done 0 took 2, Read and judged Done 2 took 5, Recorded Done 8, Waited for a person Done 8 took 60, Acted None",
		},
		"its plan expired": {
			v1alpha1.ActionDelete,
			v1alpha1.CleanerRunStatus{
				Phase: v1alpha1.RunCompleted, Reason: v1alpha1.ReasonExpired, Plan: plan, StartTime: at(2), JudgedTime: at(7), CompletionTime: at(8),
			},
			"Waited in the queue Done 0 took 2, Read and judged Done 2 took 5, Recorded Done 8, Waited for a person Done 8 took 600, Acted None",
		},
		"a record of an earlier version": {
			v1alpha1.ActionDelete,
			v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted, Intent: intent, StartTime: at(2), CompletionTime: at(67)},
			"Waited in the queue Done 0 took 2, Read and judged Done 2, Acted Done, Recorded Done 67",
		},
	} {
		run := &v1alpha1.CleanerRun{Status: test.status}
		run.Status.Message = "ann approved the plan."
		run.Spec.Action, run.Spec.NominalTime, run.CreationTimestamp = test.action, *at(0), *at(3)
		var got []string
		for _, stage := range stagesOf(run, &v1alpha1.CleanerApproval{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: *at(68)}}) {
			if stage.Name == "Recorded" && test.status.Plan != nil && stage.Text != "a plan for 3 objects" {
				t.Errorf("%s: recorded is %q", name, stage.Text)
			}
			words := stage.Name + " " + stage.State
			if stage.Time != nil {
				words += fmt.Sprintf(" %.0f", stage.Time.Sub(due).Seconds())
			}
			if stage.TookSeconds != nil {
				words += fmt.Sprintf(" took %d", *stage.TookSeconds)
			}
			got = append(got, words)
		}
		if got := strings.Join(got, ", "); got != test.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, test.want)
		}
	}
}
