// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

func TestSpareTime(t *testing.T) {
	for times, want := range map[int]time.Duration{
		0: 0, 1: 0, 2: time.Minute, 3: 2 * time.Minute, 4: 4 * time.Minute, 6: 16 * time.Minute, 7: longestSpare, 100: longestSpare,
	} {
		if got := spareTime(times); got != want {
			t.Errorf("after %d denials: %s, want %s", times, got, want)
		}
	}
}

// Memory is bounded: what is one object too many is asked for in each run, until others have been forgotten.
func TestDenialsAreBounded(t *testing.T) {
	var d Denials
	record := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{CleanerUID: "c", Trigger: v1alpha1.TriggerSchedule}}
	verdicts := make([]stage.Verdict, maxDenials+1)
	outcomes := make([]stage.Outcome, len(verdicts))
	for i := range verdicts {
		verdicts[i] = stage.Verdict{Candidate: stage.Candidate{Object: object.Object{UID: types.UID(fmt.Sprint(i)), ResourceVersion: "1"}}, Act: true}
		outcomes[i] = stage.Outcome{Verdict: verdicts[i], Result: v1alpha1.OutcomeDenied}
	}
	now := time.Now()
	d.Note(record, outcomes, now)
	d.Note(record, outcomes, now)
	denied := d.Of(record, now)
	last := len(verdicts) - 1
	if one, before := denied(verdicts[last].Object), denied(verdicts[last-1].Object); one != "" || before == "" || len(d.objects) != maxDenials {
		t.Fatalf("the last is %q, the one before %q, of %d", one, before, len(d.objects))
	}
	interrupted := outcomes[0]
	interrupted.Result = v1alpha1.OutcomeInterrupted
	if d.Note(record, []stage.Outcome{interrupted}, now); len(d.objects) != maxDenials {
		t.Fatal("what was not asked for is forgotten")
	}
	outcomes[0].Result = v1alpha1.OutcomeDeleted
	if d.Note(record, outcomes[:1], now); len(d.objects) != maxDenials-1 {
		t.Fatal("what is not denied any more is remembered")
	}
	d.Note(record, outcomes[last:], now)
	later := now.Add(firstSpare + longestSpare + 1)
	d.Note(record, outcomes[last:], later)
	if len(d.objects) != 1 {
		t.Fatalf("%d are remembered after a long time", len(d.objects))
	}
}
