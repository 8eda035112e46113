// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// panics is a fault at the n-th of what a run calls, counted from 1. With 0 it only counts.
type panics struct {
	at    int64
	calls atomic.Int64
}

func (p *panics) here() {
	if p.calls.Add(1) == p.at {
		fault()
	}
}

// brokenClock is a clock that may panic.
type brokenClock struct {
	*testingclock.FakeClock
	panics *panics
}

func (c brokenClock) Now() time.Time { c.panics.here(); return c.FakeClock.Now() }

func (c brokenClock) Since(t time.Time) time.Duration {
	c.panics.here()
	return c.FakeClock.Since(t)
}

// F35: whatever a run calls panics: the process lives, the run ends or is taken up, its record says the truth, and the next run does
// what is left.
func TestPanicAtEveryCall(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(*bench, *panics){
		"before a request": func(b *bench, p *panics) {
			b.requests.setMeddle(func(*http.Request) (*http.Response, error) { p.here(); return nil, nil })
		},
		"after a request": func(b *bench, p *panics) {
			web, err := rest.HTTPClientFor(env.Config)
			must(b.t, err)
			b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				response, err := web.Transport.RoundTrip(r)
				p.here()
				return response, err
			})
		},
		"of the clock": func(b *bench, p *panics) {
			b.runner.Begin.Clock = brokenClock{b.clock, p}
			b.runner.Record.Journal = journal.New(b.live, operatorNamespace, b.runner.Begin.Clock)
		},
	} {
		for _, action := range []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionTransform} {
			if action == v1alpha1.ActionTransform && name != "after a request" {
				continue // no other way than a Delete's
			}
			t.Run(fmt.Sprintf("%s, %s", action, name), func(t *testing.T) {
				t.Parallel()
				counting := &panics{}
				panickingRun(t, action, breaks, counting)
				calls := counting.calls.Load()
				for at := range calls {
					panickingRun(t, action, breaks, &panics{at: at + 1})
				}
				if t.Logf("%d calls", calls); calls == 0 {
					t.Error("nothing was called")
				}
			})
		}
	}
}

// untouched is what no Transform has touched.
const untouched = "!('touched' in object.data)"

// panickingRun lets a run of three objects panic somewhere, and looks at what it leaves.
func panickingRun(t *testing.T, action v1alpha1.Action, breaks func(*bench, *panics), p *panics) {
	t.Helper()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 3)
	changing := func(c *v1alpha1.Cleaner) {
		if action == v1alpha1.ActionTransform {
			mergePatch(`{"data": {"touched": "yes"}}`)(c)
		}
	}
	c := b.cleaner(action, conditions(expression(untouched, "")), changing, notifying(v1alpha1.NotificationCleanerReport))
	asked := run.Request{Cleaner: c.Name, Nominal: b.clock.Now().Truncate(time.Second), Trigger: v1alpha1.TriggerSchedule}
	whole := *b.runner
	breaks(b, p)
	func() {
		defer func() { _ = recover() }() // as the executor does
		_, _ = b.runner.Run(t.Context(), asked)
	}()
	b.requests.setMeddle(nil)
	*b.runner = whole
	name := v1alpha1.RunName(c.Name, asked.Nominal)
	record, err := b.runner.Record.Journal.Find(t.Context(), name)
	must(t, err)
	if record != nil && !record.Status.Phase.Final() { // the reconciler takes it up
		_, _ = b.runner.Run(t.Context(), asked)
		record, err = b.runner.Record.Journal.Find(t.Context(), name)
		must(t, err)
	}
	b.wantTruth(p.at, action, record)
	b.run(c)
	b.wantDone(p.at, action, 3)
}

// wantTruth compares a record with what is there. Without one, nothing was touched.
func (b *bench) wantTruth(at int64, action v1alpha1.Action, record *v1alpha1.CleanerRun) {
	b.t.Helper()
	if record == nil {
		b.wantDone(at, action, 0)
		return
	}
	status := &record.Status
	if !status.Phase.Final() || status.Acted+status.Skipped+status.Failed != status.Matched || status.Matched != int64(len(status.Objects)) {
		b.t.Errorf("panic %d: the phase is %q, with %+v of %d objects: %s", at, status.Phase, status.RunCounts, len(status.Objects), status.Message)
	}
	done := 0
	for _, o := range status.Objects {
		acted := o.Outcome == v1alpha1.OutcomeDeleted || o.Outcome == v1alpha1.OutcomeFoundGone || o.Outcome == v1alpha1.OutcomeTransformed
		if acted {
			done++
		}
		if b.isDone(action, o.Name) != acted {
			b.t.Errorf("panic %d: %s is %s (%s), which is not so: %s", at, o.Name, o.Outcome, o.Reason, status.Message)
		}
	}
	if status.Phase == v1alpha1.RunCompleted && done != 3 {
		b.t.Errorf("panic %d: the run is %s, with %d done: %s", at, status.Phase, done, status.Message)
	}
	b.wantDone(at, action, done)
}

// wantDone fails the test unless so many of the three objects are deleted or changed.
func (b *bench) wantDone(at int64, action v1alpha1.Action, want int) {
	b.t.Helper()
	done := 0
	for i := range 3 {
		if b.isDone(action, fmt.Sprintf("old-%d", i)) {
			done++
		}
	}
	if done != want {
		b.t.Errorf("panic %d: %d objects are dealt with, want %d", at, done, want)
	}
}

func (b *bench) isDone(action v1alpha1.Action, name string) bool {
	b.t.Helper()
	if action == v1alpha1.ActionDelete {
		return !b.exists(name)
	}
	return b.named(name).Data["touched"] != ""
}
