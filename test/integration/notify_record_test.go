// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

// records are the Cleaner's CleanerRuns, oldest first, after g for good or f for failed.
func (b *bench) records(c *v1alpha1.Cleaner) []string {
	b.t.Helper()
	var list v1alpha1.CleanerRunList
	must(b.t, b.user.List(b.t.Context(), &list, client.MatchingLabels{v1alpha1.CleanerLabel: string(c.UID)}))
	var names []string
	for _, run := range list.Items { // by name, which ends with the nominal time
		letter := map[v1alpha1.RunPhase]string{v1alpha1.RunCompleted: "g", v1alpha1.RunFailed: "f"}[run.Status.Phase]
		names = append(names, letter+" "+run.Name)
	}
	return names
}

// Every run leaves a CleanerRun object (history limits as in CronJob: 3 good, 1 failed).
func TestHistoryLimits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		good, failed *int32
		// runs is one letter per run: g for good, f for failed. kept are those that are left, the latest.
		runs, kept string
	}{
		"the default, 3 and 1": {nil, nil, "fgfgggfgg", "gfgg"},
		"2 and 2":              {ptr.To[int32](2), ptr.To[int32](2), "gfgffg", "gffg"},
		"none of the good":     {ptr.To[int32](0), nil, "gfg", "f"},
		"none at all":          {ptr.To[int32](0), ptr.To[int32](0), "gfg", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.startExecutor()
			b.configMap("old")
			c := b.cleaner(v1alpha1.ActionScan, func(c *v1alpha1.Cleaner) {
				c.Spec.SuccessfulRunsHistoryLimit, c.Spec.FailedRunsHistoryLimit = test.good, test.failed
			})
			b.reconcile(c)
			var all []string
			for _, letter := range test.runs {
				script := map[rune]string{'g': "", 'f': `function evaluate() error("bad") end`}[letter]
				edit(b, b.get(c.Name), evaluate(script))
				all = append(all, string(letter)+" "+b.runNow(c).Status.LastRun.Name)
			}
			b.reconcile(c) // the old ones go some time after the run
			want := latest(all, test.kept)
			if diff := cmp.Diff(want, b.records(c)); diff != "" {
				t.Fatalf("the records of %v (-want +got):\n%s", all, diff)
			}
		})
	}
}

// latest picks the latest of all whose letters are those of kept, in that order.
func latest(all []string, kept string) []string {
	var want []string
	for i := len(all) - 1; i >= 0 && len(kept) > 0; i-- {
		if all[i][0] == kept[len(kept)-1] {
			want = append([]string{all[i]}, want...)
			kept = kept[:len(kept)-1]
		}
	}
	return want
}

// Emergency stop: --dry-run makes every Cleaner of the cluster act as Scan, and says so everywhere.
func TestDryRunOnlyReports(t *testing.T) {
	t.Parallel()
	for _, action := range []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionTransform} {
		t.Run(string(action), func(t *testing.T) {
			b := newBench(t, func(s *settings) { s.off = stop.Fixed(v1alpha1.DryRunByFlag) })
			b.startExecutor()
			b.configMap("old", stale)
			c := b.cleaner(action, evaluate(matchStale), transform(touch), maxCount(0), notifying(v1alpha1.NotificationCleanerReport))
			wantCondition(t, b.reconcile(c), v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled, "The operator runs with --dry-run: nothing is touched.")
			c = b.runNow(c)
			const want = "1 of 1 object matched; nothing was touched, because the operator runs with --dry-run."
			wantCondition(t, c, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, want)
			last := c.Status.LastRun
			if !last.DryRun || last.Action != v1alpha1.ActionScan || c.Status.Action != v1alpha1.ActionScan || last.Matches[0].Message != "old is stale" {
				t.Fatalf("lastRun is %+v", last)
			}
			var run v1alpha1.CleanerRun
			must(t, b.user.Get(t.Context(), client.ObjectKey{Name: last.Name}, &run))
			wantCounts(t, &run, v1alpha1.RunCounts{Considered: 1, Matched: 1})
			wantOutcome(t, &run, "old", v1alpha1.OutcomeDryRun)
			if report := b.reported(c); report.Spec.Action != v1alpha1.ActionScan || !run.Spec.DryRun {
				t.Fatalf("the Report's action is %s, the record's dryRun %t", report.Spec.Action, run.Spec.DryRun)
			}
			b.wantUntouched()
		})
	}
}

// A Delete run that matches more than half of what it considered says so.
func TestDeleteOfMoreThanHalfSaysSo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 4)
	const warning = "That is more than half of the objects considered; blastRadiusLimit can stop such a run."
	run := b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(below(2))))
	if run.Status.Message != "2 of 4 objects matched; 2 deleted." {
		t.Fatalf("the message is %q", run.Status.Message)
	}
	b.configMaps(b.namespace, "cm", 2)
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(below(3)))), v1alpha1.ReasonCompleted, "3 of 4 objects matched; 3 deleted. "+warning)
}
