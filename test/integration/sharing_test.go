// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// start is a gate at which the runs of Cleaners that are due together wait until all have come. All of them have begun then, and none
// has read anything.
type start struct {
	mu      sync.Mutex
	missing int
	open    chan struct{}
	opened  time.Time
	// lists is when each list of the path began, by the account that asked for it.
	lists map[string][]time.Time
}

// dueTogether runs the Cleaners at the same time.
func (b *bench) dueTogether(path string, cleaners []*v1alpha1.Cleaner) ([]*v1alpha1.CleanerRun, *start) {
	b.t.Helper()
	s := &start{missing: len(cleaners), open: make(chan struct{}), lists: map[string][]time.Time{}}
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		switch {
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/cleanerruns"):
			s.arrive()
			select {
			case <-s.open:
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, path):
			s.mu.Lock()
			defer s.mu.Unlock()
			account := r.Header.Get("Impersonate-User")
			s.lists[account] = append(s.lists[account], time.Now())
		}
		return nil, nil
	})
	b.clock.SetTime(b.clock.Now().Add(time.Second))
	runs := make([]*v1alpha1.CleanerRun, len(cleaners))
	var group sync.WaitGroup
	for i, c := range cleaners {
		group.Go(func() {
			runs[i] = b.carryOut(b.t.Context(), run.Request{Cleaner: c.Name, Nominal: b.clock.Now().Truncate(time.Second), Trigger: v1alpha1.TriggerSchedule})
		})
	}
	group.Wait()
	return runs, s
}

func (s *start) arrive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missing--; s.missing == 0 {
		s.opened = time.Now()
		close(s.open)
	}
}

// wantFew fails the test if there were more lists than one at the beginning, one in each 400 ms after that, and one of the run that
// was left over at the end, however long the machine took for the runs.
func (s *start) wantFew(t *testing.T, account string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	lists := s.lists[account]
	if len(lists) == 0 {
		t.Fatalf("nobody listed anything as %q", account)
	}
	took := lists[len(lists)-1].Sub(s.opened)
	if most := 3 + int(took/(400*time.Millisecond)); len(lists) > most {
		t.Errorf("%d lists within %s as %q, want at most %d", len(lists), took, account, most)
	}
	t.Logf("%d lists within %s as %q", len(lists), took, account)
}

// 50 Cleaners that are due at once and select the same: a few lists serve all, and each run says what it would say alone.
func TestCleanersThatAreDueTogetherShareLists(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 20)
	cleaners := make([]*v1alpha1.Cleaner, 50)
	for i := range cleaners {
		cleaners[i] = b.cleaner(v1alpha1.ActionScan, conditions(v1alpha1.MatchCondition{
			Name: "one", Expression: fmt.Sprintf(`int(object.data.n) %% 20 == %d`, i%20), Message: fmt.Sprintf("for %d", i),
		}))
	}
	runs, s := b.dueTogether("/"+b.namespace+"/configmaps", cleaners)
	s.wantFew(t, "")
	for i, run := range runs {
		wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 20 objects matched.")
		if o := run.Status.Objects[0]; o.Name != fmt.Sprintf("cm-%d", i%20) || o.Message != fmt.Sprintf("for %d", i) {
			t.Errorf("Cleaner %d found %s: %s", i, o.Name, o.Message)
		}
	}
	b.wantUntouched()
}

// Cleaners of two accounts that are due at once: nobody sees what another account may see, and the operator's right, which is to
// see all, is of no use to them.
func TestCleanersOfDifferentAccountsShareNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 3)
	as := func(name string) func(*v1alpha1.Cleaner) { return naming(b.namespace, name) }
	account := func(name string) string { return "system:serviceaccount:" + b.namespace + ":" + name }
	b.allow(account("may"), b.namespace, may("configmaps", "list"))
	var cleaners []*v1alpha1.Cleaner
	for range 6 {
		cleaners = append(cleaners, b.cleaner(v1alpha1.ActionScan), b.cleaner(v1alpha1.ActionScan, as("may")), b.cleaner(v1alpha1.ActionScan, as("may-not")))
	}
	runs, s := b.dueTogether("/"+b.namespace+"/configmaps", cleaners)
	for i, run := range runs {
		if i%3 == 2 {
			wantRun(t, run, v1alpha1.ReasonForbidden, `User "`+account("may-not")+`" cannot list resource "configmaps"`)
			wantCounts(t, run, v1alpha1.RunCounts{})
			continue
		}
		wantRun(t, run, v1alpha1.ReasonCompleted, "3 of 3 objects matched.")
	}
	for _, who := range []string{"", account("may"), account("may-not")} {
		s.wantFew(t, who)
	}
}
