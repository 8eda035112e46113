// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// stale is whether matchStale matches a ConfigMap.
func (b *bench) stale(name, is string) {
	edit(b, b.named(name), func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"stale": is} })
}

// TestCountsEndAlsoInRunsThatDoNotAct: what a run does not find any more has ended, whatever becomes of the run.
func TestCountsEndAlsoInRunsThatDoNotAct(t *testing.T) {
	t.Parallel()
	for name, meddle := range map[string]func(*bench, context.CancelCauseFunc){
		"copies that cannot be written": func(b *bench, _ context.CancelCauseFunc) { b.refusing(http.MethodPost, "/secrets", "no room") },
		"an operator that stops": func(b *bench, stop context.CancelCauseFunc) {
			b.beforeFirst(http.MethodPost, "/secrets", func() { stop(executor.ErrStopping) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			old, used := b.configMap("old"), b.configMap("used")
			b.stale("old", "yes")
			b.stale("used", "yes")
			c := b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale), threshold(2))
			wantRun(t, b.run(c), v1alpha1.ReasonCompleted)
			b.wantCounted(c, map[string]string{key(old): "1", key(used): "1"})
			b.stale("used", "no")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			meddle(b, cancel)
			b.runWith(ctx, c)
			b.wantCounted(c, map[string]string{key(old): "1"})
			b.stale("used", "yes")
			b.requests.setMeddle(nil)
			run := b.run(c)
			wantOutcome(t, run, "old", v1alpha1.OutcomeDeleted)
			b.wantNames("used")
		})
	}
}

// TestCountsEndWhereTheSecondDecisionDoesNotFindThem, also when what the run counts cannot be saved.
func TestCountsEndWhereTheSecondDecisionDoesNotFindThem(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serviceAccount()
	late, old := b.configMap("late"), b.configMap("old")
	c := b.cleaner(v1alpha1.ActionDelete, b.configMapsAndPods(), aggregated(unusedConfigMaps), threshold(3))
	b.run(c)
	b.run(c)
	b.wantCounted(c, map[string]string{key(late): "2", key(old): "2"})
	var used, failed sync.Once
	b.requests.setMeddle(func(r *http.Request) (_ *http.Response, err error) {
		switch {
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/secrets"):
			used.Do(func() { b.pod("web", "late") })
		case r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/"+operatorNamespace+"/configmaps/"):
			failed.Do(func() { err = errors.New("no answer") })
		}
		return nil, err
	})
	wantRun(t, b.run(c), v1alpha1.ReasonFailed, "no answer")
	b.wantNames("late", "old")
	b.wantCounted(c, map[string]string{key(old): "2"})
}

// TestCountsEndInARunThatIsResumed: what a resumed run does not find any more begins anew, and nothing else does.
func TestCountsEndInARunThatIsResumed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		runs    int
		cleaner func(*bench) *v1alpha1.Cleaner
	}{
		"occurrenceThreshold": {2, func(b *bench) *v1alpha1.Cleaner {
			return b.cleaner(v1alpha1.ActionDelete, b.configMapsAndPods(), aggregated(unusedConfigMaps), threshold(2))
		}},
		"forSeconds": {3, func(b *bench) *v1alpha1.Cleaner {
			return b.deletesUnused(finds(v1alpha1.FindingUnused, func(f *v1alpha1.FindingSelector) { f.ForSeconds = ptr.To[int64](1) }))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.serviceAccount()
			late, old := b.configMap("late"), b.configMap("old")
			c := test.cleaner(b)
			for range test.runs - 1 {
				wantRun(t, b.run(c), v1alpha1.ReasonCompleted)
			}
			b.clock.SetTime(b.clock.Now().Add(time.Second))
			request := run.Request{Cleaner: c.Name, Nominal: b.clock.Now().Truncate(time.Second), Trigger: v1alpha1.TriggerSchedule}
			at := newBarrier(t) // never opened: this operator is no more
			b.holdRequests(at, http.MethodDelete, "/configmaps/")
			go func() { _, _ = b.runner.Run(t.Context(), request) }()
			at.await(2)
			b.wantCountsOf(c, late, true)
			b.pod("web", "late")
			next := newBench(t)
			next.namespace = b.namespace
			next.clock.SetTime(b.clock.Now())
			record := next.carryOut(t.Context(), request)
			wantOutcome(t, record, "old", v1alpha1.OutcomeDeleted)
			wantOutcome(t, record, "late", v1alpha1.OutcomeChanged)
			b.wantCountsOf(c, late, false)
			b.wantCountsOf(c, old, true) // until the next run
		})
	}
}

// wantCountsOf fails the test unless there are counts of a ConfigMap, or are none.
func (b *bench) wantCountsOf(c *v1alpha1.Cleaner, cm *corev1.ConfigMap, want bool) {
	b.t.Helper()
	is := false
	for counted := range b.counts(c) {
		is = is || strings.HasPrefix(counted, key(cm))
	}
	if is != want {
		b.t.Fatalf("there are counts of %s: %t: %v", cm.Name, is, b.counts(c))
	}
}
