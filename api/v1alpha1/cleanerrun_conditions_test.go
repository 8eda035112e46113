// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEndConditions(t *testing.T) {
	t.Parallel()
	del, scan, dry := CleanerRunSpec{Action: ActionDelete}, CleanerRunSpec{Action: ActionScan}, CleanerRunSpec{Action: ActionScan, DryRun: true}
	intent, planned := &RunIntent{Objects: 3}, []ObjectTally{{Outcome: OutcomePlanned, Count: 3}}
	tests := map[string]struct {
		spec   CleanerRunSpec
		status CleanerRunStatus
		want   string
	}{
		"it reads and judges":           {del, CleanerRunStatus{}, ""},
		"it acts":                       {del, CleanerRunStatus{Phase: RunExecuting, Intent: intent, RunCounts: RunCounts{Matched: 3}}, ""},
		"it did all":                    {del, CleanerRunStatus{Phase: RunCompleted, Reason: ReasonCompleted, Intent: intent, RunCounts: RunCounts{Matched: 3, Acted: 3}}, "Completed True Completed, Acted True ObjectsActedOn"},
		"it did a part":                 {del, CleanerRunStatus{Phase: RunFailed, Reason: ReasonPartiallyFailed, Intent: intent, RunCounts: RunCounts{Matched: 3, Acted: 1, Failed: 2}}, "Completed True PartiallyFailed, Acted True ObjectsActedOn"},
		"all failed":                    {del, CleanerRunStatus{Phase: RunFailed, Reason: ReasonForbidden, Intent: intent, RunCounts: RunCounts{Matched: 3, Failed: 3}}, "Completed True Forbidden, Acted False Forbidden"},
		"all was left alone":            {del, CleanerRunStatus{Phase: RunCompleted, Reason: ReasonCompleted, Intent: intent, RunCounts: RunCounts{Matched: 3, Skipped: 3}}, "Completed True Completed, Acted False AllSkipped"},
		"nothing matched":               {del, CleanerRunStatus{Phase: RunCompleted, Reason: ReasonCompleted, RunCounts: RunCounts{Considered: 9}}, "Completed True Completed, Acted False NothingMatched"},
		"too much matched":              {del, CleanerRunStatus{Phase: RunFailed, Reason: ReasonLimitExceeded, RunCounts: RunCounts{Matched: 3, Skipped: 3}}, "Completed True LimitExceeded, Acted False LimitExceeded"},
		"it was stopped while it read":  {del, CleanerRunStatus{Phase: RunInterrupted, Reason: ReasonDeadlineExceeded, RunCounts: RunCounts{Matched: 3}}, "Completed True DeadlineExceeded, Acted False DeadlineExceeded"},
		"it was stopped while it acted": {del, CleanerRunStatus{Phase: RunInterrupted, Reason: ReasonFailed, Intent: intent, RunCounts: RunCounts{Matched: 3, Acted: 1, Skipped: 2}}, "Completed True Failed, Acted True ObjectsActedOn"},
		"its intent cannot be read":     {del, CleanerRunStatus{Phase: RunInterrupted, Reason: ReasonFailed, Intent: intent, RunCounts: RunCounts{Matched: 4, Skipped: 1}, Tallies: planned}, "Completed True Failed, Acted Unknown OutcomesUnknown"},
		"nor could all be judged":       {del, CleanerRunStatus{Phase: RunInterrupted, Reason: ReasonFailed, Intent: intent, RunCounts: RunCounts{Matched: 3, Failed: 5}, Tallies: planned}, "Completed True Failed, Acted Unknown OutcomesUnknown"},
		"a Scan":                        {scan, CleanerRunStatus{Phase: RunCompleted, Reason: ReasonCompleted, RunCounts: RunCounts{Matched: 3}}, "Completed True Completed, Acted False Scan"},
		"a Scan that could not read":    {scan, CleanerRunStatus{Phase: RunFailed, Reason: ReasonViewIncomplete}, "Completed True ViewIncomplete, Acted False ViewIncomplete"},
		"a dry run":                     {dry, CleanerRunStatus{Phase: RunCompleted, Reason: ReasonCompleted, RunCounts: RunCounts{Matched: 3}}, "Completed True Completed, Acted False DryRun"},
		"it ended without a reason":     {del, CleanerRunStatus{Phase: RunInterrupted}, "Completed True Interrupted, Acted False Interrupted"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := metav1.NewTime(time.Unix(1_800_000_000, 0))
			test.status.Message, test.status.CompletionTime = strings.Repeat("m", maxConditionMessage+1), &at
			run := CleanerRun{Spec: test.spec, Status: test.status}
			var words []string
			for _, c := range run.EndConditions() {
				words = append(words, c.Type+" "+string(c.Status)+" "+c.Reason)
				if !c.LastTransitionTime.Equal(&at) || len(c.Message) != maxConditionMessage {
					t.Errorf("%s is of %s, with a message of %d bytes", c.Type, c.LastTransitionTime, len(c.Message))
				}
			}
			if diff := cmp.Diff(test.want, strings.Join(words, ", ")); diff != "" {
				t.Errorf("the conditions (-want +got):\n%s", diff)
			}
		})
	}
}
