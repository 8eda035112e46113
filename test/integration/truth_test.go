// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// selected lists what a selector finds.
func (b *bench) selected(t *testing.T, spec v1alpha1.ResourceSelector) []string {
	t.Helper()
	s, err := selector.New(0, spec, selector.Judge{}, b.clock.Now())
	must(t, err)
	var found selector.Matches
	must(t, s.Select(t.Context(), b.runner.Read.Operator, &found).Err)
	var names []string
	for _, candidate := range found.Verdicts.All() {
		names = append(names, candidate.Name)
	}
	return names
}

// onConfigMaps lets f answer requests of the method for ConfigMaps of the test.
func (b *bench) onConfigMaps(method string, f func(*http.Request) (*http.Response, error)) {
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == method && strings.Contains(r.URL.Path, "/configmaps/") {
			return f(r)
		}
		return nil, nil
	})
}

// A 404 that does not speak of the object is no success: the version is not served any more, or the server is another one.
func TestNotFoundOfSomethingElseIsNoSuccess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	b.onConfigMaps(http.MethodDelete, func(r *http.Request) (*http.Response, error) {
		body := io.NopCloser(strings.NewReader("404 page not found\n"))
		return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{"Content-Type": {"text/plain"}}, Body: body, Request: r}, nil
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, run, v1alpha1.ReasonPartiallyFailed, "0 deleted, 1 whose kind is not served any more. ")
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 1, Matched: 1, Failed: 1})
	wantOutcome(t, run, "old", v1alpha1.OutcomeKindGone)
}

// F4: the delete was applied and its answer lost: a live read decides.
func TestDeleteWhoseAnswerWasLostIsADelete(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cm := b.configMap("old")
	b.configMap("kept")
	b.onConfigMaps(http.MethodDelete, func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/old") {
			must(t, b.user.Delete(context.Background(), cm))
		}
		return nil, io.ErrUnexpectedEOF
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 2, Matched: 2, Acted: 1, Failed: 1})
	if got := outcomes(run); got["old"] != v1alpha1.OutcomeDeleted || got["kept"] != v1alpha1.OutcomeFailed {
		t.Fatalf("the outcomes are %v", got)
	}
}

// An object that went away before it could be changed was not changed.
func TestTransformOfWhatIsGoneIsNotCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cm := b.configMap("old")
	b.onConfigMaps(http.MethodPatch, func(*http.Request) (*http.Response, error) {
		return nil, b.user.Delete(context.Background(), cm)
	})
	run := b.run(b.cleaner(v1alpha1.ActionTransform, func(c *v1alpha1.Cleaner) {
		c.Spec.Transform = "function transform() obj.data = {a = 'b'} return {resource = obj} end"
	}))
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 1, Matched: 1, Skipped: 1})
}

// A run that was cut off is brought to its end by the next operator, which counts and reports all of it.
func TestCutOffRunIsFinishedAndReported(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 3)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationCleanerReport)))
	l.startExecutor()
	at := newBarrier(t)
	b.holdRequests(at, http.MethodDelete, "/configmaps/old-")
	l.at(l.first())
	at.await(3)
	next := l.successor()
	next.startExecutor()
	next.at(l.first().Add(time.Minute))
	next.finish()
	if got, want := next.now.Status.LastRun.RunCounts, (v1alpha1.RunCounts{Considered: 3, Matched: 3, Acted: 3}); got != want {
		t.Errorf("the counts are %+v, want %+v", got, want)
	}
	wantCondition(t, next.now, v1alpha1.ConditionNotificationsDelivered, "True", v1alpha1.ReasonDelivered)
}

// Runs that were asked for just before the tick do not take the tick's name.
func TestManualRunDoesNotTakeTheTicksName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	l.startExecutor()
	first := l.first()
	l.clock.SetTime(first.Add(-500 * time.Millisecond))
	l.ask("a")
	l.step()
	l.finish()
	l.ask("b") // has to wait for the next second, which is the tick's
	l.step()
	l.at(first.Add(100 * time.Millisecond))
	l.finish()
	l.at(first.Add(time.Second))
	l.finish()
	scheduled := 0
	for _, record := range l.records() {
		if record.Spec.Trigger == v1alpha1.TriggerSchedule {
			scheduled++
		}
	}
	if records := l.records(); len(records) != 3 || scheduled != 1 {
		t.Fatalf("there are %d records, %d of them scheduled", len(records), scheduled)
	}
}

// A write of the counts that was cut off after its first part does not stand in the way of the next.
func TestCountsAreWrittenAfterACutOffWrite(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionScan)
	book := journal.New(b.live, operatorNamespace, b.clock)
	counts := map[string]int64{}
	for i := range 4001 {
		counts[fmt.Sprintf("ConfigMap__%d", i)] = 1
	}
	posts := 0
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPost {
			if posts++; posts == 2 {
				return nil, io.ErrUnexpectedEOF
			}
		}
		return nil, nil
	})
	if err := book.SaveCounts(t.Context(), c, counts, "r1"); err == nil {
		t.Fatal("the write was not cut off")
	}
	b.requests.setMeddle(nil)
	if stored, last, err := book.Counts(t.Context(), c); err != nil || last != "" || len(stored) != 0 {
		t.Fatalf("half a write reads as %d counts of %q, %v", len(stored), last, err)
	}
	must(t, book.SaveCounts(t.Context(), c, counts, "r2"))
	if stored, last, err := book.Counts(t.Context(), c); err != nil || last != "r2" || len(stored) != len(counts) {
		t.Fatalf("there are %d counts of %q, %v", len(stored), last, err)
	}
}

// A stored Transform without a script is reported, not tried.
func TestTransformWithoutScriptIsInvalid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionTransform, func(c *v1alpha1.Cleaner) { c.Spec.Transform = "x = 1" })
	c.Spec.Transform = ""
	reason, message, err := b.runner.Check.Validate(t.Context(), c)
	if err != nil || reason != v1alpha1.ReasonInvalidExpression || !strings.Contains(message, "action Transform needs a script") {
		t.Fatalf("Validate says %q %q %v", reason, message, err)
	}
}
