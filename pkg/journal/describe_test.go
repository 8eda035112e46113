// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// many are n outcomes of one word, named by it.
func many(n int, result v1alpha1.OutcomeResult) []stage.Outcome {
	outcomes := make([]stage.Outcome, n)
	for i := range outcomes {
		outcomes[i].Name = fmt.Sprintf("%s-%d", result, i)
		outcomes[i].UID = types.UID(outcomes[i].Name)
		outcomes[i].Namespace = fmt.Sprintf("namespace-%d", i%3)
		outcomes[i].Result, outcomes[i].Detail = result, strings.Repeat("x", 200)
	}
	return outcomes
}

func names(result v1alpha1.OutcomeResult, n int) []string {
	var all []string
	for _, o := range many(n, result) {
		all = append(all, o.Name)
	}
	return all
}

func join(parts ...[]stage.Outcome) []stage.Outcome {
	var all []stage.Outcome
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// When there is no room for all, what people look for is listed: failures, and what is rare.
func TestRecordListsWhatIsRareFirst(t *testing.T) {
	for name, c := range map[string]struct {
		outcomes []stage.Outcome
		first    string
	}{
		"all fit":                      {join(many(3, "Deleted"), many(1, "Failed")), "Deleted-0 Deleted-1 Deleted-2 Failed-0"},
		"failures before what is rare": {join(many(3000, "Deleted"), many(1, "Replaced"), many(2, "Denied"), many(1, "NotEvaluated")), "Denied-0 Denied-1 NotEvaluated-0 Replaced-0 Deleted-0"},
		"many are left alone":          {join(many(5000, "Protected"), many(2, "Deleted"), many(1, "Denied")), "Denied-0 Deleted-0 Deleted-1 Protected-0"},
		"stopped":                      {join(many(4000, "Deleted"), many(1500, "Interrupted")), "Interrupted-0 Interrupted-1"},
		"an example of everything":     {join(many(4000, "Deleted"), many(1500, "Abandoned")), strings.Join(slices.Concat(names("Abandoned", examples), names("Deleted", examples), []string{"Abandoned-20"}), " ")},
	} {
		t.Run(name, func(t *testing.T) {
			described := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete}}
			Describe(described, int64(len(c.outcomes)), c.outcomes)
			wantFitting(t, described, len(c.outcomes), c.first)

			// The same of a run that was taken over: it had planned all of them.
			planned := make([]stage.Outcome, 0, len(c.outcomes))
			var victims []stage.Outcome
			for _, o := range c.outcomes {
				if o.Result == v1alpha1.OutcomeNotEvaluated {
					planned = append(planned, o)
					continue
				}
				victims = append(victims, o)
				o.Result, o.Detail = v1alpha1.OutcomePlanned, ""
				planned = append(planned, o)
			}
			settled := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete}}
			describeActing(settled, int64(len(planned)), planned)
			Settle(settled, victims)
			if settled.Status.RunCounts != described.Status.RunCounts {
				t.Errorf("the counts are %+v, want %+v", settled.Status.RunCounts, described.Status.RunCounts)
			}
			wantFitting(t, settled, len(c.outcomes), "")
			if !reflect.DeepEqual(settled.Status.Tallies, described.Status.Tallies) {
				t.Errorf("the tallies are %+v, want %+v", settled.Status.Tallies, described.Status.Tallies)
			}
		})
	}
}

func wantFitting(t *testing.T, run *v1alpha1.CleanerRun, total int, first string) {
	t.Helper()
	names := namesIn(run)
	size, seen := 0, map[types.UID]bool{}
	for _, o := range run.Status.Objects {
		size += o.Size()
		if seen[o.UID] {
			t.Errorf("%s is listed twice", o.Name)
		}
		seen[o.UID] = true
	}
	if !strings.HasPrefix(strings.Join(names, " "), first) {
		t.Errorf("the list begins with %v, want %s", names[:min(len(names), 8)], first)
	}
	counted := int64(0)
	for i, tally := range run.Status.Tallies {
		counted += tally.Count
		if i > 0 && tally.Count > run.Status.Tallies[i-1].Count || tally.Namespace == "" {
			t.Errorf("tally %d is %+v", i, tally)
		}
	}
	if want := int64(total); counted != want && (counted != 0 || run.Status.ObjectsOmitted > 0) {
		t.Errorf("the tallies are of %d objects, want %d", counted, want)
	}
	if size > maxRunBytes || int64(total) != int64(len(names))+run.Status.ObjectsOmitted {
		t.Errorf("%d of %d are listed, %d omitted, in %d bytes", len(names), total, run.Status.ObjectsOmitted, size)
	}
}

// The tallies are bounded too, and what is left out of them does not make those that are kept wrong, also when the run is settled.
func TestTalliesAreBounded(t *testing.T) {
	action := v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete}
	ended, acting := &v1alpha1.CleanerRun{Spec: action}, &v1alpha1.CleanerRun{Spec: action}
	outcomes := many(5000, v1alpha1.OutcomePlanned)
	for i := range outcomes {
		outcomes[i].Namespace = fmt.Sprintf("namespace-%d", min(i, maxTallies+100))
	}
	describeActing(acting, 5000, outcomes)
	for i := range outcomes {
		outcomes[i].Result = v1alpha1.OutcomeDeleted
	}
	Describe(ended, 5000, outcomes)
	Settle(acting, outcomes)
	for _, run := range []*v1alpha1.CleanerRun{ended, acting} {
		if got := run.Status.Tallies; len(got) != maxTallies || got[0].Count != int64(len(outcomes)-maxTallies-100) || got[0].Outcome != v1alpha1.OutcomeDeleted || got[1].Count != 1 {
			t.Fatalf("there are %d tallies, and the first are %+v", len(got), got[:2])
		}
	}
}

// While a run acts, its record is small: it lists only what the run leaves alone, which a recovered run still reports.
func TestRecordOfARunThatActs(t *testing.T) {
	outcomes := join(many(10_000, v1alpha1.OutcomePlanned), many(3, v1alpha1.OutcomeProtected), many(2, v1alpha1.OutcomeNotEvaluated))
	for i := range outcomes {
		outcomes[i].Kind.Version, outcomes[i].Kind.Kind, outcomes[i].Namespace = "v1", "ConfigMap", fmt.Sprintf("namespace-%d", i%300)
		outcomes[i].VolumeBytes = 2 // those that are left alone free nothing
	}
	run := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete}}
	describeActing(run, 20_000, outcomes)
	text, err := json.Marshal(run.Status)
	if err != nil || len(text) > 3<<10 {
		t.Errorf("the status takes %d bytes, %v", len(text), err)
	}
	left := []string{"Protected-0", "Protected-1", "Protected-2", "NotEvaluated-0", "NotEvaluated-1"}
	if got := namesIn(run); !slices.Equal(got, left) || run.Status.ObjectsOmitted != 10_000 || run.Status.Matched != 10_003 || run.Status.Tallies[0].Count != 10_000 {
		t.Errorf("it lists %v, omits %d, and counts %+v, %+v", got, run.Status.ObjectsOmitted, run.Status.RunCounts, run.Status.Tallies)
	}
	for i := range outcomes[:10_000] {
		outcomes[i].Result = v1alpha1.OutcomeDeleted
	}
	Settle(run, outcomes[:10_000])
	want := v1alpha1.RunCounts{Considered: 20_000, Matched: 10_003, Acted: 10_000, Skipped: 3, Failed: 2, FreedBytes: 20_000}
	if got := namesIn(run); run.Status.RunCounts != want || len(got) < 500 || !slices.Equal(slices.Sorted(slices.Values(got[:5])), slices.Sorted(slices.Values(left))) {
		t.Errorf("in the end it counts %+v and lists %v", run.Status.RunCounts, got)
	}
}

// What somebody else deleted first is done, and freed by somebody else.
func TestFreedBytesAreThoseOfThisRun(t *testing.T) {
	run := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete}}
	outcomes := join(many(2, v1alpha1.OutcomeDeleted), many(3, v1alpha1.OutcomeGone))
	for i := range outcomes {
		outcomes[i].VolumeBytes = 2
	}
	Describe(run, 5, outcomes)
	if run.Status.Acted != 5 || run.Status.FreedBytes != 4 {
		t.Errorf("it counts %+v", run.Status.RunCounts)
	}
}

// namesIn are the names of the objects that a record lists.
func namesIn(run *v1alpha1.CleanerRun) (names []string) {
	for _, o := range run.Status.Objects {
		names = append(names, o.Name)
	}
	return names
}

// What is rare is counted although the commonest outcome alone would take all lines.
func TestTalliesKeepWhatIsRare(t *testing.T) {
	outcomes := join(many(5000, v1alpha1.OutcomeMatched), many(30, v1alpha1.OutcomeProtected))
	for i := range outcomes {
		if outcomes[i].Namespace = "last"; outcomes[i].Result == v1alpha1.OutcomeMatched {
			outcomes[i].Namespace = fmt.Sprintf("namespace-%d", i%250)
		}
	}
	run := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionScan}}
	Describe(run, 5030, outcomes)
	if got := run.Status.Tallies; len(got) != maxTallies || got[0].Outcome != v1alpha1.OutcomeProtected || got[0].Count != 30 || got[1].Count != 20 {
		t.Errorf("there are %d tallies, and the first are %+v", len(got), got[:2])
	}
}

// A Report that is made from a record says how many objects that does not list.
func TestReportFromARecordThatIsNotWhole(t *testing.T) {
	run := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Action: v1alpha1.ActionDelete}}
	outcomes := many(3000, v1alpha1.OutcomeDeleted)
	Describe(run, 3000, outcomes)
	run.Status.Phase = v1alpha1.RunCompleted
	listed := len(run.Status.Objects)
	if got := reportSpec(run, outcomes[:listed], 7, maxReportBytes).Message; !strings.HasPrefix(got, "7 more objects are not listed: ") {
		t.Errorf("it says %q", got)
	}
	if got := reportSpec(run, outcomes, 0, 1<<30).Message; got != "" {
		t.Errorf("it says %q", got)
	}
}
