// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/faultproxy"
)

// F3: 30 % of all requests are refused with 429, for the whole run: it completes with at most twice the requests.
func TestStormOf429(t *testing.T) {
	t.Parallel()
	const objects = 40
	s := newSite(t)
	try := func(rule func(*faultproxy.Call) faultproxy.Fault) int {
		w := newWorld(t, s, s.newNamespace(t), v1alpha1.ActionDelete)
		w.many(objects)
		runner, proxy := s.newRunner(t)
		proxy.Handle(rule)
		if _, err := runner.Run(t.Context(), w.request()); err != nil {
			t.Errorf("the run has no record: %v", err)
		}
		w.wantAllDone(t, objects)
		return proxy.Calls()
	}
	undisturbed := try(nil)
	var mu sync.Mutex
	dice, refused := rand.New(rand.NewPCG(*faultSeed, 429)), 0
	busy := faultproxy.RefuseFor(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, time.Second)
	wait := map[string]time.Time{} // until when each object is to be left alone
	requests := try(func(c *faultproxy.Call) faultproxy.Fault {
		mu.Lock()
		defer mu.Unlock()
		key := c.Verb + " " + c.Request.URL.Path
		if c.Verb == "delete" && time.Now().Before(wait[key]) {
			t.Errorf("%s was sent before the server had said", key)
		}
		if dice.Float64() >= 0.3 {
			return nil
		}
		refused++
		wait[key] = time.Now().Add(time.Second)
		return busy
	})
	t.Logf("%d requests, of which %d were refused; %d without the storm", requests, refused, undisturbed)
	if requests > 2*undisturbed || refused < undisturbed/5 {
		t.Errorf("%d requests, of which %d were refused; without the storm there are %d", requests, refused, undisturbed)
	}
}

// slowServer takes its time for changes, first little, then much, until they come one by one, and then little again. Time is the
// fake clock's.
type slowServer struct {
	clock *testingclock.FakeClock
	// passing is how many changes are on their way.
	passing atomic.Int64

	mu sync.Mutex
	// seen is how many changes there were in all, since since the server has been what it is.
	seen, since int
	slow, quick bool
	// alone is how many came one by one in a row; first and recovered, how many were on their way at once, at first and in the end.
	alone     int
	first     int64
	recovered atomic.Int64
}

// settling is how many changes bring the parallelism up again far enough, one after each four.
const settling = 40

func (s *slowServer) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	passing := s.passing.Add(1)
	defer s.passing.Add(-1)
	s.mu.Lock()
	s.seen++
	s.since++
	number, slow, quick := s.seen, s.slow, s.quick
	settled := quick && s.since > settling
	s.mu.Unlock()
	switch {
	case number <= 16:
		passing = s.wait(r, 16, time.Minute)
	case slow:
		passing = s.wait(r, 2, time.Second/4) // whoever may, comes meanwhile
	case settled && s.recovered.Load() < 4:
		passing = s.wait(r, 4, time.Minute)
	}
	if slow {
		s.step(5 * time.Second)
	} else {
		s.step(time.Millisecond)
	}
	next.ServeHTTP(w, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case slow && passing == 1:
		s.alone++
	case slow:
		s.alone = 0
	}
	switch {
	case s.seen >= 32 && !s.slow && !s.quick:
		s.slow = true
	case s.slow && s.alone == 3:
		s.slow, s.quick, s.since = false, true, 0
	}
	if number <= 16 {
		s.first = max(s.first, passing)
	}
	if settled && passing > s.recovered.Load() {
		s.recovered.Store(passing)
	}
}

// wait holds a change until so many are on their way, or for so long.
func (s *slowServer) wait(r *http.Request, n int64, atMost time.Duration) (passing int64) {
	end := time.After(atMost)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if passing = s.passing.Load(); passing >= n {
			return passing
		}
		select {
		case <-r.Context().Done():
			return passing
		case <-end:
			return passing
		case <-tick.C:
		}
	}
}

func (s *slowServer) step(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.SetTime(s.clock.Now().Add(d))
}

// F3: a server that slows down gets less at once, down to one, and more again when it has recovered.
func TestServerThatSlowsDown(t *testing.T) {
	t.Parallel()
	const objects = 180
	s := newSite(t)
	w := newWorld(t, s, s.newNamespace(t), v1alpha1.ActionDelete)
	for i := range objects { // of a kind of which each takes one request: a look, which is quick, would say that the server is
		w.create("ConfigMap", fmt.Sprintf("m%d", i), "")
	}
	runner, proxy := s.newRunner(t)
	server := &slowServer{clock: testingclock.NewFakeClock(s.clock.Now())}
	runner.Check.Identities.Clock = server.clock
	proxy.Handle(func(c *faultproxy.Call) faultproxy.Fault {
		if w.isChange(c) {
			return server.serve
		}
		return nil
	})
	_, _ = runner.Run(t.Context(), w.request())
	w.wantAllDone(t, objects)
	t.Logf("at first %d at once; in the end %d; it was quick again for %d", server.first, server.recovered.Load(), server.since)
	if !server.quick {
		t.Error("the parallelism never went down to one")
	}
	if last := server.recovered.Load(); server.first != 16 || last < 4 {
		t.Errorf("there were %d at once at first, and %d in the end, want 16, and 4 or more", server.first, last)
	}
}
