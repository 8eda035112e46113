// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// TestFold: what status says of a run follows from its record and, if there is none, from why.
func TestFold(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0).UTC()
	ended := func(phase v1alpha1.RunPhase, reason, message string) *v1alpha1.CleanerRun {
		run := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{CleanerUID: "u", NominalTime: metav1.NewTime(now)}}
		run.Name, run.Status.Phase, run.Status.Reason, run.Status.Message = "c-1", phase, reason, message
		run.Status.StartTime, run.Status.RunCounts = ptr.To(metav1.NewTime(now)), v1alpha1.RunCounts{Considered: 5, Matched: 3, Acted: 2, Failed: 1}
		return run
	}
	ofOther := ended(v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "of an earlier Cleaner")
	ofOther.Spec.CleanerUID = "v"
	exhausted := ended(v1alpha1.RunFailed, v1alpha1.ReasonViewIncomplete, "out of time")
	exhausted.Status.Exhausted = true
	refused := errors.New("the quota is used up")
	for name, test := range map[string]struct {
		run   *v1alpha1.CleanerRun
		fault error
		// foreign says which other controller is there.
		foreign string
		// after is how much later it is folded in.
		after time.Duration
		// want is whether it is done, the condition RunSucceeded, whether the run is still the active one, and what else there is.
		want string
	}{
		"it went well":                 {run: ended(v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "3 of 5"), want: "true True Completed: 3 of 5; last c-1"},
		"it failed":                    {run: ended(v1alpha1.RunFailed, v1alpha1.ReasonPartiallyFailed, "1 failed"), want: "true False PartiallyFailed: 1 failed; last c-1; failure: 1 failed"},
		"its script was out of time":   {run: exhausted, want: "true False ViewIncomplete: out of time; last c-1; failure: out of time; exhausted 1"},
		"another operator carries on":  {run: ended(v1alpha1.RunExecuting, "", ""), after: time.Minute, want: "true Unknown Running: going on; active; soon"},
		"another operator went away":   {run: ended(v1alpha1.RunExecuting, "", ""), after: time.Hour, want: "false Unknown Running: going on; active"},
		"it left no word":              {want: "false Unknown Running: going on; active"},
		"its record was deleted":       {fault: fmt.Errorf("writing: %w", journal.ErrGone), want: "true False Failed: The run was stopped: writing: somebody deleted the CleanerRun during the run, and with it the list of what it did; failure: The run was stopped: writing: somebody deleted the CleanerRun during the run, and with it the list of what it did"},
		"its record was deleted later": {fault: errRecordDeleted, want: "true False Failed: It is not known what the run did, and the run is not repeated: somebody deleted the CleanerRun before this status was written; failure: It is not known what the run did, and the run is not repeated: somebody deleted the CleanerRun before this status was written"},
		"its record was not written":   {fault: refused, want: "true False RecordNotWritten: The run could not begin, nothing was touched: the quota is used up; active; failure: The run could not begin, nothing was touched: the quota is used up; soon; RecordNotWritten"},
		"nor in time":                  {fault: refused, after: time.Hour, want: "true False Failed: The run could not begin, nothing was touched: the quota is used up; failure: The run could not begin, nothing was touched: the quota is used up; missed"},
		"another controller is there":  {fault: refused, foreign: "k8s-cleaner", want: "true False Failed: The run of 2027-01-15T08:00:00Z did not begin, because another controller wrote the Cleaner's status.; failure: The run of 2027-01-15T08:00:00Z did not begin, because another controller wrote the Cleaner's status."},
		"its name is taken":            {run: ofOther, fault: journal.ErrOtherCleaner, want: "true False Failed: The run could not begin, nothing was touched: " + journal.ErrOtherCleaner.Error() + "; failure: The run could not begin, nothing was touched: " + journal.ErrOtherCleaner.Error()},
		"another Cleaner's is no news": {run: ofOther, want: "false Unknown Running: going on; active"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &CleanerReconciler{Clock: clocktesting.NewFakePassiveClock(now.Add(test.after))}
			cleaner := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{StartingDeadlineSeconds: ptr.To[int64](600)}}
			cleaner.UID = "u"
			cleaner.Status.ActiveRun = &v1alpha1.ActiveRun{Name: "c-1", NominalTime: metav1.NewTime(now), Trigger: v1alpha1.TriggerSchedule}
			setCondition(cleaner, v1alpha1.ConditionRunSucceeded, metav1.ConditionUnknown, v1alpha1.ReasonRunning, "going on")
			round := &round{memory: &memory{}, foreign: test.foreign}
			done := r.foldRecord(t.Context(), cleaner, test.run, test.fault, round)
			if got := folded(cleaner, round, done); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// folded are the words for what became of the status.
func folded(cleaner *v1alpha1.Cleaner, round *round, done bool) string {
	status := cleaner.Status
	succeeded := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionRunSucceeded)
	words := []string{fmt.Sprintf("%t %s %s: %s", done, succeeded.Status, succeeded.Reason, succeeded.Message)}
	add := func(is bool, text string) {
		if is {
			words = append(words, text)
		}
	}
	add(status.ActiveRun != nil, "active")
	if last := status.LastRun; last != nil {
		words = append(words, "last "+last.Name)
	}
	add(status.FailureMessage != nil, "failure: "+ptr.Deref(status.FailureMessage, ""))
	add(status.ExhaustedRuns > 0, fmt.Sprint("exhausted ", status.ExhaustedRuns))
	add(round.missed != "", "missed")
	add(round.soon, "soon")
	add(round.unrecorded != "", "RecordNotWritten")
	return strings.Join(words, "; ")
}

// TestRepeatedRuns: a scheduled Scan that finds nothing has an Event only if that is news.
func TestRepeatedRuns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before func(*v1alpha1.Cleaner)
		run    func(*v1alpha1.CleanerRun)
		want   bool
	}{
		"the same again":        {want: true},
		"the first run":         {before: func(c *v1alpha1.Cleaner) { c.Status.LastRun = nil }},
		"it found something":    {run: func(r *v1alpha1.CleanerRun) { r.Status.Matched = 1 }},
		"somebody asked for it": {run: func(r *v1alpha1.CleanerRun) { r.Spec.Trigger = v1alpha1.TriggerManual }},
		"it may delete":         {run: func(r *v1alpha1.CleanerRun) { r.Spec.Action = v1alpha1.ActionDelete }},
		"it looked at others":   {run: func(r *v1alpha1.CleanerRun) { r.Status.Considered = 6 }},
		"it failed": {run: func(r *v1alpha1.CleanerRun) {
			r.Status.Phase, r.Status.Reason = v1alpha1.RunFailed, v1alpha1.ReasonViewIncomplete
		}},
		"the one before failed":  {before: func(c *v1alpha1.Cleaner) { c.Status.FailureMessage = ptr.To("0 of 5") }},
		"the one before deleted": {before: func(c *v1alpha1.Cleaner) { c.Status.LastRun.Action = v1alpha1.ActionDelete }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cleaner, run := &v1alpha1.Cleaner{}, &v1alpha1.CleanerRun{}
			cleaner.Status.LastRun = &v1alpha1.LastRun{Action: v1alpha1.ActionScan, RunCounts: v1alpha1.RunCounts{Considered: 5}}
			setCondition(cleaner, v1alpha1.ConditionRunSucceeded, metav1.ConditionUnknown, v1alpha1.ReasonRunning, "going on") // as in each run
			run.Status.Considered, run.Spec.Trigger, run.Spec.Action = 5, v1alpha1.TriggerSchedule, v1alpha1.ActionScan
			run.Status.Phase, run.Status.Reason, run.Status.Message = v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "0 of 5"
			if test.before != nil {
				test.before(cleaner)
			}
			if test.run != nil {
				test.run(run)
			}
			if got := isRepeated(cleaner, run); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}
