// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// TestRecordIsWrittenWhenTheServerIsBack: the API server refuses connections when a run ends, for longer than anybody would wait for a single
// request. The status says nothing of the run before its record does, and then the same.
func TestRecordIsWrittenWhenTheServerIsBack(t *testing.T) {
	t.Parallel()
	const tries = 12 // one a second
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationCleanerReport)))
	l.startExecutor()
	l.step()
	var acted atomic.Bool
	var refused atomic.Int64
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/configmaps/") {
			acted.Store(true)
		}
		if acted.Load() && r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/cleanerruns/") && refused.Add(1) <= tries {
			return nil, syscall.ECONNREFUSED
		}
		return nil, nil
	})
	l.at(l.first())
	l.eventually("the end of the run could not be written", func() bool { return refused.Load() > tries/2 })
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "Unknown", v1alpha1.ReasonRunning)
	l.finish()
	record := l.records()[0]
	wantRun(t, &record, v1alpha1.ReasonCompleted, "1 of 1 object matched; 1 deleted.")
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, "1 of 1 object matched; 1 deleted.")
	wantCondition(t, l.now, v1alpha1.ConditionNotificationsDelivered, "True", v1alpha1.ReasonDelivered)
	if got := len(b.reported(l.now).Spec.ResourceInfo); got != 1 {
		t.Errorf("the Report lists %d objects", got)
	}
}

// TestOutcomesAreSavedWhenTheServerIsBack: the API server takes no Secret when a run has acted, for longer than anybody would wait for a single
// request. A record that has ended has the outcome of each object: a restore goes by that. But a webhook that refuses all Secrets does not keep a
// run from its end.
func TestOutcomesAreSavedWhenTheServerIsBack(t *testing.T) {
	t.Parallel()
	away := func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED }
	denied := func(r *http.Request) (*http.Response, error) {
		return answer(r, http.StatusInternalServerError, []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","code":500}`)), nil
	}
	for name, test := range map[string]struct {
		tries  int64 // to save outcomes, about one a second
		answer func(*http.Request) (*http.Response, error)
		paths  []string
		saved  int
	}{
		"away for a while": {12, away, []string{"/secrets", "/cleanerruns/"}, 1},
		"always denied":    {1 << 30, denied, []string{"/secrets"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMap("old")
			c := b.cleaner(v1alpha1.ActionDelete)
			var acted atomic.Bool
			var refused atomic.Int64
			b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/configmaps/") {
					acted.Store(true)
				}
				if !acted.Load() || r.Method == http.MethodGet {
					return nil, nil
				}
				if strings.Contains(r.URL.Path, "/secrets") {
					refused.Add(1)
				}
				isMeant := func(path string) bool { return strings.Contains(r.URL.Path, path) }
				if slices.ContainsFunc(test.paths, isMeant) && refused.Load() <= test.tries {
					return test.answer(r)
				}
				return nil, nil
			})
			record := b.run(c)
			wantRun(t, record, v1alpha1.ReasonCompleted, "1 of 1 object matched; 1 deleted.")
			outcomes, err := journal.ReadOutcomes(t.Context(), journal.NewParts(b.user), record)
			must(t, err)
			if n := refused.Load(); len(outcomes) != test.saved || n < 10 {
				t.Errorf("after %d refused writes the outcomes are %v", n, outcomes)
			}
		})
	}
}
