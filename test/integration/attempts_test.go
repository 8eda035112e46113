// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

const givenUp = "The operator stopped 3 times during this run, and the run made no progress. "

// TestRunThatNeverBeginsToActIsGivenUp: after three operators that went away while they read, the fourth touches nothing. What counts is
// in the record.
func TestRunThatNeverBeginsToActIsGivenUp(t *testing.T) {
	t.Parallel()
	for operators, want := range map[int]string{2: v1alpha1.ReasonCompleted, 3: v1alpha1.ReasonFailed} {
		b := newBench(t)
		b.configMap("old")
		cleaner := b.cleaner(v1alpha1.ActionDelete)
		nominal := b.clock.Now().Truncate(time.Second)
		spec := v1alpha1.CleanerRunSpec{
			Cleaner: cleaner.Name, CleanerUID: cleaner.UID, CleanerGeneration: cleaner.Generation,
			NominalTime: metav1.NewTime(nominal), Trigger: v1alpha1.TriggerSchedule, Action: v1alpha1.ActionDelete,
		}
		for range operators { // and goes away
			_, err := b.runner.Record.Journal.Begin(t.Context(), cleaner, spec)
			must(t, err)
		}
		record := b.carryOut(t.Context(), run.Request{Cleaner: cleaner.Name, Nominal: nominal, Trigger: v1alpha1.TriggerSchedule})
		if wantRun(t, record, want); want == v1alpha1.ReasonFailed {
			wantRun(t, b.stored(record), want, givenUp, "Nothing was touched.")
			b.wantNames("old")
		}
	}
}

// TestRecoveryThatDoesNotGetOnIsGivenUp: an operator counts that it takes a run over before it reads what the run was going to touch.
// When three have come to nothing, the next only looks whether they saved outcomes. An operator that saved outcomes got on.
func TestRecoveryThatDoesNotGetOnIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		operators int // after the first
		saved     bool
		want      string
	}{
		"two more":   {1, false, v1alpha1.ReasonCompleted},
		"three more": {2, false, v1alpha1.ReasonFailed},
		"got on":     {2, true, v1alpha1.ReasonCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, next := cutOffRun(t, 3, http.MethodDelete)
			record := &l.records()[0]
			for range c.operators {
				must(t, l.runner.Record.Journal.TakeOver(t.Context(), record))
			}
			if c.saved {
				must(t, l.user.Delete(t.Context(), l.object("old-0")))
				ledger, _, _, err := l.runner.Record.Journal.Resume(t.Context(), record, func(int, int) error { return nil })
				must(t, err)
				must(t, ledger.Record(t.Context(), 0, stage.Outcome{Result: v1alpha1.OutcomeDeleted}))
				must(t, ledger.Flush(t.Context()))
			}
			ended := next.goOn(l.first().Add(time.Minute))
			wantRun(t, ended, c.want)
			if c.want == v1alpha1.ReasonCompleted {
				l.wantNames()
				return
			}
			wantRun(t, ended, c.want, givenUp, "It is not known which of the objects counted as Planned were touched.")
			if deletes(next) != 0 || next.requests.count(http.MethodGet, "-bundle-0") > 1 {
				t.Errorf("the next operator went on: %d deletes", deletes(next))
			}
			l.wantNames("old-0", "old-1", "old-2")
		})
	}
}

// TestRecoveryTakesNoMoreMemoryThanARun may.
func TestRecoveryTakesNoMoreMemoryThanARun(t *testing.T) {
	t.Parallel()
	large := transform(`function transform() obj.data.big = string.rep("x", 2^20) return {resource = obj} end`)
	l, next := cutOffRun(t, 3, http.MethodPatch, large)
	next.runner.Check.Memory = selector.NewBudget(1 << 20)
	record := next.goOn(l.first().Add(time.Minute))
	wantRun(t, record, v1alpha1.ReasonFailed, "and what it was going to touch cannot be read: ",
		"not enough memory for the first 2 objects that it was going to touch: they take more than 1 MiB of memory", "It is not known which of the objects counted as Planned were touched.")
}
