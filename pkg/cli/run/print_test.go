// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// became are n objects of one outcome, named by it.
func became(n int, outcome v1alpha1.OutcomeResult) []v1alpha1.ObjectOutcome {
	objects := make([]v1alpha1.ObjectOutcome, n)
	for i := range objects {
		objects[i] = v1alpha1.ObjectOutcome{Name: fmt.Sprintf("%s-%d", outcome, i), Outcome: outcome}
	}
	return objects
}

// A run of thousands of objects does not push what it did out of the terminal: 20 of them are shown, those first that tell the most.
func TestRunShowsTwentyObjects(t *testing.T) {
	const stored = 3841 // beside the record
	failed, kept := became(3, v1alpha1.OutcomeFailed), became(2, v1alpha1.OutcomeProtected)
	for name, c := range map[string]struct {
		objects    []v1alpha1.ObjectOutcome
		omitted    int64
		kept       bool
		summedUp   bool
		rows       int
		first      string
		standsLast string
	}{
		"as many as are shown":  {became(20, v1alpha1.OutcomeDeleted), 0, false, false, 20, "Deleted-0 Deleted-1", ""},
		"few, failures first":   {slices.Concat(became(2, v1alpha1.OutcomeDeleted), failed), 0, false, false, 5, "Failed-0 Failed-1 Failed-2 Deleted-0", ""},
		"one more":              {became(21, v1alpha1.OutcomeDeleted), 0, false, false, 20, "Deleted-0 Deleted-1", "... and 1 more: kubectl cleaner runs r --limit 0\n"},
		"failures, then rare":   {slices.Concat(became(1155, v1alpha1.OutcomeDeleted), kept, failed), 0, false, false, 20, "Failed-0 Failed-1 Failed-2 Deleted-0", "... and 1,140 more: kubectl cleaner runs r --limit 0\n"},
		"not all in the record": {became(1160, v1alpha1.OutcomeDeleted), 3840, false, false, 20, "Deleted-0", "... and 4,980 more, 1,140 of them in: kubectl cleaner runs r --limit 0\n"},
		"all are kept":          {became(1160, v1alpha1.OutcomeDeleted), 3840, true, false, 20, "Deleted-0", "... and 4,980 more; all that the run was going to touch: kubectl cleaner runs r --limit 0\n"},
		"few, and all are kept": {became(3, v1alpha1.OutcomeDeleted), 2, true, false, 3, "Deleted-0", "... and 2 more; all that the run was going to touch: kubectl cleaner runs r --limit 0\n"},
		"few in the record":     {became(3, v1alpha1.OutcomeDeleted), 2, false, false, 3, "Deleted-0", "note: 2 more objects are not listed: the CleanerRun has no room for them. It lists failures first, and then the rarest outcomes; kubectl cleaner preview c --limit 0 lists all that match now\n"},
		"a Scan stores all":     {became(1160, v1alpha1.OutcomeMatched), stored, false, false, 20, "Matched-0", "... and 4,981 more: kubectl cleaner runs r --limit 0\n"},
		"without a record":      {became(50, v1alpha1.OutcomeDeleted), 0, false, true, 20, "Deleted-0", "... and 30 more: kubectl get cleaner c -o yaml\n"},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, out, errOut := genericiooptions.NewTestIOStreams()
			record := &v1alpha1.CleanerRun{}
			record.Name, record.UID, record.Spec.Cleaner = "r", "uid", "c"
			if c.summedUp {
				record.UID = ""
			}
			record.Status.Phase, record.Status.Message = v1alpha1.RunCompleted, "Done."
			if c.kept {
				record.Status.Intent = &v1alpha1.RunIntent{}
			}
			record.Status.Objects, record.Status.ObjectsOmitted = c.objects, c.omitted
			if c.omitted == stored {
				record.Status.OtherObjects = &v1alpha1.RunParts{Objects: stored}
			}
			session := &terminal.Session{IOStreams: streams, Options: terminal.Options{Getenv: func(string) string { return "" }}}
			if err := (&options{Session: session, output: "table"}).reportRun(record); err != nil {
				t.Fatal(err)
			}
			var names []string
			for line := range strings.Lines(out.String()) {
				names = append(names, strings.Fields(line)[2])
			}
			if names = names[1:]; len(names) != c.rows || !strings.HasPrefix(strings.Join(names, " ")+" ", c.first+" ") {
				t.Errorf("it shows %d objects: %s", len(names), names)
			}
			if diff := cmp.Diff(c.standsLast+"run r ended: Done.\n", errOut.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a run had not come to is not always for the next one: one that was too slow to get through its lists is so again.
func TestWhatToDoAfterARun(t *testing.T) {
	const anew, rest = "the next run starts from the beginning. To start one now: kubectl cleaner run unused", "the next run handles what still matches. To start one now: kubectl cleaner run unused"
	const slow = "the next run starts from the beginning: before it, raise activeDeadlineSeconds (at most 3600), let the Cleaner select less by namespace, labelFilters or matchConditions, or make its script faster"
	for name, test := range map[string]struct {
		phase  v1alpha1.RunPhase
		reason string
		acted  int64
		want   string
	}{
		"it failed":                          {v1alpha1.RunFailed, v1alpha1.ReasonPartiallyFailed, 2, "to see each object: kubectl cleaner runs unused-1"},
		"too slow to act":                    {v1alpha1.RunInterrupted, v1alpha1.ReasonDeadlineExceeded, 0, slow},
		"too slow to act, its record pruned": {v1alpha1.RunFailed, v1alpha1.ReasonDeadlineExceeded, 0, slow},
		"too slow to act on all":             {v1alpha1.RunInterrupted, v1alpha1.ReasonDeadlineExceeded, 2, rest},
		"stopped before it acted":            {v1alpha1.RunInterrupted, v1alpha1.ReasonFailed, 0, anew},
		"stopped while it acted":             {v1alpha1.RunInterrupted, v1alpha1.ReasonFailed, 2, rest},
	} {
		t.Run(name, func(t *testing.T) {
			record := &v1alpha1.CleanerRun{ObjectMeta: metav1.ObjectMeta{Name: "unused-1"}, Spec: v1alpha1.CleanerRunSpec{Cleaner: "unused"}}
			record.Status.Phase, record.Status.Reason, record.Status.Acted = test.phase, test.reason, test.acted
			if got := afterRun(record); got != test.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// An object that matches and is protected is told with the reason for both.
func TestRunTellsWhyWhatIsProtectedMatches(t *testing.T) {
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	record := &v1alpha1.CleanerRun{}
	record.Name, record.UID, record.Status.Phase = "r", "uid", v1alpha1.RunCompleted
	record.Status.Objects = []v1alpha1.ObjectOutcome{{Kind: "ConfigMap", Name: "a", Outcome: v1alpha1.OutcomeMatched, Reason: "protected: by its annotation", Message: "nothing names it"}}
	session := &terminal.Session{IOStreams: streams, Options: terminal.Options{Getenv: func(string) string { return "" }}}
	if err := (&options{Session: session, output: "table"}).reportRun(record); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "protected: by its annotation (it matches: nothing names it)\n") {
		t.Errorf("got %s", out)
	}
}

// A run that left something alone as Unknown did not do all, as a scan of it would say.
func TestRunThatLeftSomethingUnknown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status v1alpha1.CleanerRunStatus
		want   int
	}{
		"nothing":               {v1alpha1.CleanerRunStatus{Objects: became(1, v1alpha1.OutcomeDeleted)}, codes.ExitDone},
		"an object":             {v1alpha1.CleanerRunStatus{Objects: slices.Concat(became(1, v1alpha1.OutcomeDeleted), became(1, v1alpha1.OutcomeUnknown))}, codes.ExitPartial},
		"one that is not shown": {v1alpha1.CleanerRunStatus{Tallies: []v1alpha1.ObjectTally{{Outcome: v1alpha1.OutcomeDeleted}, {Outcome: v1alpha1.OutcomeUnknown}}}, codes.ExitPartial},
	} {
		streams, _, _, errOut := genericiooptions.NewTestIOStreams()
		record := &v1alpha1.CleanerRun{Status: test.status}
		record.Name, record.Status.Phase, record.Status.Message = "r", v1alpha1.RunCompleted, "1 deleted."
		session := &terminal.Session{IOStreams: streams, Options: terminal.Options{Getenv: func(string) string { return "" }}}
		err, exit := (&options{Session: session, output: "table"}).reportRun(record), codes.ExitDone
		if f := (*terminal.Failure)(nil); errors.As(err, &f) {
			exit = f.Exit
		}
		if exit != test.want || !strings.Contains(errOut.String(), "run r ended: 1 deleted.") {
			t.Errorf("%s: it exits with %d, want %d, and says %s", name, exit, test.want, errOut)
		}
	}
}

// Who is asked before a run is told how much the last one matched, and why a run now may match more.
func TestHowMuchTheLastRunMatched(t *testing.T) {
	t.Parallel()
	due := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	o := &options{Session: &terminal.Session{Options: terminal.Options{Now: func() time.Time { return due.Add(3 * time.Hour) }}}}
	condition := func(status metav1.ConditionStatus, reason string, generation int64) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha1.ConditionRunSucceeded, Status: status, Reason: reason, ObservedGeneration: generation}}
	}
	for want, conditions := range map[string][]metav1.Condition{
		"":                                       condition(metav1.ConditionTrue, v1alpha1.ReasonCompleted, 2),
		"; the Cleaner was edited since":         condition(metav1.ConditionTrue, v1alpha1.ReasonCompleted, 1),
		", and did not succeed (ViewIncomplete)": condition(metav1.ConditionFalse, v1alpha1.ReasonViewIncomplete, 2),
	} {
		c := &v1alpha1.Cleaner{}
		c.Generation, c.Status.Conditions = 2, conditions
		c.Status.LastRun = &v1alpha1.LastRun{NominalTime: metav1.NewTime(due), RunCounts: v1alpha1.RunCounts{Matched: 1234}}
		if got := o.lastMatches(c); got != "; its last run, at 2026-03-01T03:00:00Z, 3h ago, matched 1,234 objects"+want {
			t.Errorf("%q", got)
		}
	}
}
