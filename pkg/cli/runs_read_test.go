// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// recordOf writes the record of a run of the Cleaner that came so long after nominal.
func (s *site) recordOf(c *v1alpha1.Cleaner, after time.Duration, status v1alpha1.CleanerRunStatus) *v1alpha1.CleanerRun {
	s.Helper()
	at := metav1.NewTime(nominal.Add(after))
	record := &v1alpha1.CleanerRun{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.RunName(c.Name, at.Time)}, Spec: v1alpha1.CleanerRunSpec{
		Cleaner: c.Name, CleanerUID: c.UID, NominalTime: at, Trigger: v1alpha1.TriggerSchedule, Action: v1alpha1.ActionDelete,
	}}
	must(s.T, s.Create(s.Context(), record))
	s.Cleanup(func() { _ = s.Delete(context.Background(), record) })
	record.Status = status
	must(s.T, s.Status().Update(s.Context(), record))
	return record
}

func outcomeOf(outcome v1alpha1.OutcomeResult, namespace, name, reason string) v1alpha1.ObjectOutcome {
	return v1alpha1.ObjectOutcome{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: name, Outcome: outcome, Reason: reason, Message: "unused"}
}

// after is so long after nominal.
func after(d time.Duration) *metav1.Time { return &metav1.Time{Time: nominal.Add(d)} }

// aDayLater makes the program believe that a day has passed since nominal.
func aDayLater(o *terminal.Options) { o.Now = func() time.Time { return nominal.Add(24 * time.Hour) } }

func TestRunsShowWhatWaitsAndWhatFailed(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	s.recordOf(c, 0, v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunFailed, Reason: v1alpha1.ReasonPartiallyFailed, RunCounts: v1alpha1.RunCounts{Matched: 5, Acted: 3, Failed: 2}})
	s.recordOf(c, time.Hour, v1alpha1.CleanerRunStatus{})
	o := &operator{site: s, cleaner: c}
	o.status(func(c *v1alpha1.Cleaner) {
		at := metav1.NewTime(nominal.Add(2 * time.Hour))
		c.Status.Action = v1alpha1.ActionDelete
		c.Status.ActiveRun = &v1alpha1.ActiveRun{Name: v1alpha1.RunName(c.Name, at.Time), NominalTime: at, Trigger: v1alpha1.TriggerManual}
	})
	s.wants(s.call(t.Context(), aDayLater, "runs", c.Name), codes.ExitDone,
		"NAME   CLEANER   ACTION   PHASE   WHEN   MATCHED   ACTED   FAILED   COPIES   KEPT UNTIL\n"+
			"unused-NS-SECONDS   unused-NS   Delete   Waiting   22h ago   -   -   -   -   -\n"+
			"unused-NS-SECONDS   unused-NS   Delete   Reading   23h ago   -   -   -   -   -\n"+
			"unused-NS-SECONDS   unused-NS   Delete   Failed: PartiallyFailed   24h ago   5   3   2   -   -\n", "")
}

func TestRunIsReadByPeople(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	s.recordOf(c, 0, v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted, Reason: v1alpha1.ReasonCompleted, Objects: []v1alpha1.ObjectOutcome{
		outcomeOf(v1alpha1.OutcomeDeleted, "shop", "old", ""), outcomeOf(v1alpha1.OutcomeProtected, "shop", "kept", "annotated cleaner/protect"),
	}})
	run := s.recordOf(c, time.Hour, v1alpha1.CleanerRunStatus{
		Phase: v1alpha1.RunFailed, Reason: v1alpha1.ReasonPartiallyFailed, Message: "4 of 9 objects matched; 2 deleted, 1 failed.", Duration: &metav1.Duration{Duration: 1234 * time.Millisecond},
		StartTime: after(time.Hour), JudgedTime: after(time.Hour + 5*time.Second), CompletionTime: after(time.Hour + 66*time.Second), Intent: &v1alpha1.RunIntent{Namespace: "x", Attempt: "x", Head: "x"},
		Copies: &v1alpha1.RunCopies{Objects: 2, Storage: v1alpha1.StorageSecret, ExpirationTime: metav1.NewTime(nominal.AddDate(0, 0, 7))},
		Objects: []v1alpha1.ObjectOutcome{
			outcomeOf(v1alpha1.OutcomeProtected, "shop", "kept", "annotated cleaner/protect"), outcomeOf(v1alpha1.OutcomeDeleted, "shop", "b", ""),
			outcomeOf(v1alpha1.OutcomeDeleted, "blog", "a", ""), outcomeOf(v1alpha1.OutcomeDenied, "shop", "c", "a webhook said no"),
		},
	})
	const head = "run unused-NS-SECONDS of cleaner unused-NS: Delete, Failed: PartiallyFailed, 23h ago, took 1.2s\ndue 2027-01-15T09:00:00Z, waited <1s, read and judged for 5s, acted for 1m1s\n4 of 9 objects matched; 2 deleted, 1 failed.\n" +
		"copies of 2 objects until 2027-01-22T08:00:00Z: kubectl cleaner restore unused-NS-SECONDS\n\n"
	const columns = "OUTCOME   NAMESPACE   KIND   NAME   WHY\n"
	s.wants(s.call(t.Context(), aDayLater, "runs", run.Name), codes.ExitDone, head+columns+"Denied   shop   ConfigMap   c   a webhook said no\n"+
		"Deleted   blog   ConfigMap   a   unused\nDeleted   shop   ConfigMap   b   unused\nProtected   shop   ConfigMap   kept   annotated cleaner/protect (it matches: unused)\n", "")
	s.wants(s.call(t.Context(), aDayLater, "runs", run.Name, "--limit", "1"), codes.ExitDone, head+
		"OUTCOME   KIND   NAMESPACE   OBJECTS   WHY\nDenied   ConfigMap   shop   1   a webhook said no\nDeleted   ConfigMap   blog   1   unused\n"+
		"Deleted   ConfigMap   shop   1   unused\nProtected   ConfigMap   shop   1   annotated cleaner/protect (it matches: unused)\n\n"+columns+"Denied   shop   ConfigMap   c   a webhook said no\n",
		"... and 3 more; for all of them: kubectl cleaner runs unused-NS-SECONDS --limit 0; for some of them: --outcome, --namespace, --kind\n")
	s.wants(s.call(t.Context(), aDayLater, "runs", c.Name, "--outcome", "deleted,Failed", "-n", "shop"), codes.ExitDone, head+columns+"Deleted   shop   ConfigMap   b   unused\n", "")
	s.wants(s.call(t.Context(), aDayLater, "runs", run.Name, "--kind", "Secret"), codes.ExitDone, strings.TrimSuffix(head, "\n"), "note: of run unused-NS-SECONDS, no object matches --kind Secret; all its objects are of the kind ConfigMap\n")
	s.wants(s.call(t.Context(), aDayLater, "runs", run.Name, "--kind", "configmapz"), codes.ExitDone, strings.TrimSuffix(head, "\n"),
		"note: of run unused-NS-SECONDS, no object matches --kind configmapz; all its objects are of the kind ConfigMap; did you mean --kind ConfigMap?\n")
	if got := s.call(t.Context(), nil, "runs", run.Name, "--outcome", "Denied", "-o", "json"); !strings.Contains(got.out, `"name": "c"`) || strings.Contains(got.out, `"name": "b"`) {
		t.Errorf("-o json does not go by --outcome:\n%s", got.out)
	}
	s.wants(s.call(t.Context(), aDayLater, "runs", c.Name, "--diff"), codes.ExitDone, "CHANGE   NAMESPACE   KIND   NAME   BEFORE   NOW   WHY\n"+
		"new   shop   ConfigMap   c   -   Denied   a webhook said no\nnew   blog   ConfigMap   a   -   Deleted   unused\nnew   shop   ConfigMap   b   -   Deleted   unused\n"+
		"gone   shop   ConfigMap   old   Deleted   -   -\n",
		"3 new, 1 gone, 0 changed, 1 as before: run unused-NS-SECONDS against run unused-NS-SECONDS, 60m before it\n")
	s.wants(s.call(t.Context(), aDayLater, "runs", c.Name, "--diff", "--limit", "1"), codes.ExitDone, "CHANGE   NAMESPACE   KIND   NAME   BEFORE   NOW   WHY\n"+
		"new   shop   ConfigMap   c   -   Denied   a webhook said no\n",
		"... and 3 more; for all of them: kubectl cleaner runs unused-NS-SECONDS --diff --limit 0; for some: --outcome, --namespace, --kind\n"+
			"3 new, 1 gone, 0 changed, 1 as before: run unused-NS-SECONDS against run unused-NS-SECONDS, 60m before it\n")
	got := s.call(t.Context(), aDayLater, "runs", c.Name, "--diff", "-o", "json")
	var d struct {
		Run, Before string
		New, Gone   []v1alpha1.ObjectOutcome
		Changed     []struct{ Before, Now v1alpha1.ObjectOutcome }
		Same        int
	}
	if err := json.Unmarshal([]byte(got.out), &d); err != nil || got.code != codes.ExitDone || got.errOut != "" {
		t.Errorf("exit %d, %v\n%s%s", got.code, err, got.out, got.errOut)
	}
	if d.Run != run.Name || d.Before != v1alpha1.RunName(c.Name, nominal.Time) || len(d.New) != 3 || len(d.Gone) != 1 || d.Gone[0].Name != "old" || d.Changed == nil || len(d.Changed) != 0 || d.Same != 1 {
		t.Errorf("%+v", d)
	}
	s.wants(s.call(t.Context(), aDayLater, "runs", v1alpha1.RunName(c.Name, nominal.Time), "--diff"), codes.ExitError, "",
		"error: there is no run of cleaner \"unused-NS\" before run unused-NS-SECONDS on record\n"+
			"hint: a Cleaner keeps as many runs as its spec.successfulRunsHistoryLimit and spec.failedRunsHistoryLimit say   [E-RUN-006]\n")
}

// TestRunSaysWhatIsStillBeingDeleted: in words, with the finalizers that hold it.
func TestRunSaysWhatIsStillBeingDeleted(t *testing.T) {
	s := newSite(t)
	run := s.recordOf(s.cleaner(), 0, v1alpha1.CleanerRunStatus{
		Phase: v1alpha1.RunCompleted, Reason: v1alpha1.ReasonCompleted,
		Objects: []v1alpha1.ObjectOutcome{outcomeOf(v1alpha1.OutcomeTerminating, "shop", "old", "finalizers hold it: example.com/hold")},
	})
	got := s.call(t.Context(), aDayLater, "runs", run.Name)
	if !strings.Contains(got.out, "finalizers hold it: example.com/hold") ||
		!strings.HasPrefix(got.errOut, "note: at the end of the run, 1 object was still being deleted (Terminating). ") {
		t.Errorf("%s%s", got.out, got.errOut)
	}
}

func TestRunsUsage(t *testing.T) {
	for args, want := range map[string]string{
		"runs --diff":                "--outcome, --namespace, --kind, --limit and --diff are for one run: write its name, or that of its Cleaner",
		"runs x --outcome Delete":    `--outcome "Delete": there is no such outcome; did you mean Deleted?`,
		"runs x --diff -o name":      "--diff prints a table, json or yaml; leave -o name out",
		"runs x --limit -1":          "--limit must be at least 0",
		"runs --outcome Deleted":     "--outcome, --namespace, --kind, --limit and --diff are for one run: write its name, or that of its Cleaner",
		"runs x --outcome Qqqqqqqqq": `--outcome "Qqqqqqqqq": there is no such outcome; there are Failed, Denied,`,
	} {
		got := call(t.Context(), t, "", nil, strings.Fields(args)...)
		if got.code != codes.ExitUsage || !strings.HasPrefix(got.errOut, "error: kubectl cleaner runs: "+want) {
			t.Errorf("%s: exit code %d: %s", args, got.code, got.errOut)
		}
	}
}

// TestLargeRunIsReadByPeople: also the objects that the CleanerRun has no room for are counted and found.
func TestLargeRunIsReadByPeople(t *testing.T) {
	s := newSite(t)
	record, _ := s.large()
	got := s.call(t.Context(), nil, "runs", record.Name)
	for _, want := range []string{"\nDenied        Deployment   x           3 ", "\nDeleted       Deployment   x           2,994 ", "\nTerminating   Deployment   x           3 "} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is missing in:\n%s", want, got.out[:min(len(got.out), 2000)])
		}
	}
	if lines := strings.Count(got.out, "\n"); lines > 70 || got.code != codes.ExitDone {
		t.Errorf("%d lines, exit code %d", lines, got.code)
	}
	got = s.call(t.Context(), nil, "runs", record.Name, "--outcome", "Deleted", "--limit", "0")
	if n := strings.Count(got.out, "\nDeleted "); n != much-6 {
		t.Errorf("%d objects are listed as deleted, want %s", n, fmt.Sprint(much-6))
	}
}

// A record that lists not all objects makes nothing new or gone, and neither does --outcome.
func TestRunsThatAreCutAreCompared(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	listing := func(omitted int64, objects ...v1alpha1.ObjectOutcome) v1alpha1.CleanerRunStatus {
		return v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted, Reason: v1alpha1.ReasonCompleted, Objects: objects, ObjectsOmitted: omitted}
	}
	s.recordOf(c, 0, listing(2268, outcomeOf(v1alpha1.OutcomeMatched, "shop", "a", ""), outcomeOf(v1alpha1.OutcomeMatched, "shop", "gone", "")))
	s.recordOf(c, time.Hour, listing(2269, outcomeOf(v1alpha1.OutcomeFailed, "shop", "a", "a webhook said no"), outcomeOf(v1alpha1.OutcomeMatched, "shop", "new", "")))
	const changed = "CHANGE   NAMESPACE   KIND   NAME   BEFORE   NOW   WHY\nchanged   shop   ConfigMap   a   Matched   Failed   a webhook said no\n"
	const note = "note: at least 2,270 objects cannot be compared: run unused-NS-SECONDS does not list 2,269 of its objects, and run unused-NS-SECONDS does not list 2,268 of its objects. " +
		"A CleanerRun has room for 256 KiB of objects. A run that deletes or changes objects stores the rest of those objects elsewhere. A run that touches nothing, such as a Scan, stores up to 8 MiB elsewhere, and only for the latest two such runs of a Cleaner. kubectl cleaner preview unused-NS --limit 0 lists all that match now\n"
	const summary = "0 new, 0 gone, 1 changed, 0 as before: run unused-NS-SECONDS against run unused-NS-SECONDS, 60m before it\n"
	s.wants(s.call(t.Context(), aDayLater, "runs", c.Name, "--diff"), codes.ExitDone, changed, summary+note)
	s.wants(s.call(t.Context(), aDayLater, "runs", c.Name, "--diff", "--outcome", "Failed"), codes.ExitDone, changed, summary+strings.Replace(note, "2,270", "2,269", 1))
	if got := s.call(t.Context(), nil, "runs", c.Name, "--diff", "-o", "json"); !strings.Contains(got.out, `"unknown": 2270`) {
		t.Errorf("-o json does not say how many are unknown:\n%s", got.out)
	}
}

// scanRecord writes the record of a Scan that found so many objects, beginning with the first-th, as the operator does.
func (s *site) scanRecord(c *v1alpha1.Cleaner, book *journal.Journal, at time.Time, first, n int) *v1alpha1.CleanerRun {
	s.Helper()
	run, err := book.Begin(s.Context(), c, v1alpha1.CleanerRunSpec{Cleaner: c.Name, CleanerUID: c.UID, NominalTime: metav1.NewTime(at), Trigger: v1alpha1.TriggerManual, Action: v1alpha1.ActionScan})
	must(s.T, err)
	s.Cleanup(func() { _ = s.Delete(context.Background(), run) })
	var found []stage.Outcome
	for i := range n {
		name := fmt.Sprintf("object-%04d", first+i)
		outcome := stage.Outcome{Result: v1alpha1.OutcomeMatched}
		outcome.Kind = object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Resource: "configmaps", Namespaced: true}
		outcome.Namespace, outcome.Name, outcome.UID, outcome.Message = "x", name, types.UID("uid-of-"+name), strings.Repeat("unused ", 50)
		found = append(found, outcome)
	}
	none := func(func(stage.Outcome) bool) {}
	journal.Describe(run, int64(n), found)
	if words := book.KeepOthers(s.Context(), run, found, none); words != "" {
		s.Fatal(words)
	}
	book.End(run, v1alpha1.RunCompleted, v1alpha1.ReasonCompleted, "Done.")
	must(s.T, book.Save(s.Context(), run, ""))
	return run
}

// TestLargeScanIsReadAndCompared: all objects of the latest two Scans, and of an older one those that its record lists.
func TestLargeScanIsReadAndCompared(t *testing.T) {
	s := newSite(t)
	if err := s.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.DefaultOperatorNamespace}}); !apierrors.IsAlreadyExists(err) {
		must(t, err)
	}
	book := journal.New(s.Client, cluster.DefaultOperatorNamespace, clocktesting.NewFakePassiveClock(nominal.Add(time.Second)))
	c := s.cleaner()
	oldest := s.scanRecord(c, book, nominal.Time, 0, 3000)
	s.scanRecord(c, book, nominal.Add(time.Hour), 0, 3000)
	latest := s.scanRecord(c, book, nominal.Add(2*time.Hour), 2, 3000)
	if latest.Status.ObjectsOmitted < 2000 {
		t.Fatalf("%d objects are omitted: this proves nothing", latest.Status.ObjectsOmitted)
	}
	got := s.call(t.Context(), aDayLater, "runs", c.Name, "--limit", "0")
	if n := strings.Count(got.out, "\nMatched "); n != 3000 || got.errOut != "" || got.code != codes.ExitDone {
		t.Errorf("%d objects are listed, exit code %d: %s", n, got.code, got.errOut)
	}
	got = s.call(t.Context(), aDayLater, "runs", latest.Name)
	if !strings.Contains(got.out, "\nMatched   ConfigMap   x           3,000 ") {
		t.Errorf("the objects are not counted together:\n%s", got.out[:min(len(got.out), 2000)])
	}
	var read v1alpha1.CleanerRun
	must(t, json.Unmarshal([]byte(s.call(t.Context(), nil, "runs", latest.Name, "-o", "json").out), &read))
	if len(read.Status.Objects) != 3000 || read.Status.ObjectsOmitted != 0 {
		t.Errorf("-o json lists %d objects, %d omitted", len(read.Status.Objects), read.Status.ObjectsOmitted)
	}
	if got = s.call(t.Context(), aDayLater, "runs", c.Name, "--diff"); !strings.HasPrefix(got.errOut, "2 new, 2 gone, 0 changed, 2,998 as before: ") || strings.Contains(got.errOut, "note:") {
		t.Errorf("--diff says %s", got.errOut)
	}
	got = s.call(t.Context(), aDayLater, "runs", oldest.Name, "--limit", "0")
	listed := int64(len(oldest.Status.Objects))
	want := fmt.Sprintf("note: %s of 3,000 objects are listed, because a CleanerRun has room for 256 KiB of objects; ", terminal.Thousands(listed))
	if n := strings.Count(got.out, "\nMatched "); n != int(listed) || !strings.HasPrefix(got.errOut, want) || got.code != codes.ExitDone {
		t.Errorf("%d objects are listed, exit code %d: %s", n, got.code, got.errOut)
	}
}
