// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	"github.com/kubecleaner/kubecleaner/test/faultproxy"
)

// many creates n objects that match.
func (w *world) many(n int) {
	for i := range n {
		w.create(kinds[i%len(kinds)], fmt.Sprintf("m%d", i), "")
	}
}

// isChange reports whether the call deletes or changes an object of the world.
func (w *world) isChange(c *faultproxy.Call) bool {
	return (c.Verb == "delete" || c.Verb == "patch") && c.Changes() && c.Namespace == w.namespace
}

// wantAllDone fails the test unless the run completed, each of n objects has one outcome, and all of them say that it was done.
func (w *world) wantAllDone(t *testing.T, n int) {
	t.Helper()
	seen := w.check(t, "after the run")
	if len(seen.Records) != 1 || len(seen.Records[0].Intents) != n || len(seen.Records[0].Outcomes) != n {
		t.Fatalf("the records are %+v", seen.Records)
	}
	status := seen.Records[0].Run.Status
	if status.Phase != v1alpha1.RunCompleted || status.Acted != int64(n) {
		t.Fatalf("the run is %s, %+v: %s", status.Phase, status.RunCounts, status.Message)
	}
	for i, intent := range seen.Records[0].Intents {
		if seen.effect(intent.UID, w.before[intent.UID]) == "" {
			t.Errorf("%s is as it was, and its outcome is %s", intent.Name, seen.Records[0].Outcomes[i].Outcome)
		}
	}
}

// cut is one case.
type cut struct {
	action v1alpha1.Action
	how    string
}

func (c cut) String() string { return fmt.Sprintf("%s, %s", c.action, c.how) }

// F2, F4: the connection breaks at each change of a run, before or after it took place: each is done, and none is sent again that was
// done.
func TestCutAtEachChange(t *testing.T) {
	t.Parallel()
	const objects = 30
	s := newSite(t)
	cuts := map[string]faultproxy.Fault{"before": faultproxy.CutBefore, "after": faultproxy.CutAfter}
	var cases []cut
	for how := range cuts {
		cases = append(cases, cut{v1alpha1.ActionDelete, how}, cut{v1alpha1.ActionTransform, how})
	}
	inParallel(t, s, cases, func(t *testing.T, namespace string, c cut) {
		w := newWorld(t, s, namespace, c.action)
		w.many(objects)
		runner, proxy := s.newRunner(t)
		var sent calls
		var changes atomic.Int64
		proxy.Handle(func(call *faultproxy.Call) faultproxy.Fault {
			if !w.isChange(call) {
				return nil
			}
			changes.Add(1)
			if sent.next(call.Resource+"/"+call.Name) == 0 {
				return cuts[c.how]
			}
			return nil
		})
		_, _ = runner.Run(t.Context(), w.request())
		proxy.Wait()
		w.wantAllDone(t, objects)
		want := map[string]int64{"before": 2 * objects, "after": objects}[c.how]
		if n := changes.Load(); n != want {
			t.Errorf("%d changes were sent, want %d", n, want)
		}
	}, func() {})
}

// never is how often a server is asked that does not come back.
const never = 1 << 40

// away lets the API server go away at the n-th of some requests, until it was asked so often whether it is back.
type away struct {
	at            func(*faultproxy.Call) bool
	calls, failed atomic.Int64
	asked         atomic.Int64
	gone          atomic.Bool
	// from is the request at which it goes, counted from 1, and asks how often it is asked in vain.
	from, asks int64
	// onAsk is called when it is asked, with how often it was before.
	onAsk func(n int64)
}

func (a *away) rule(c *faultproxy.Call) faultproxy.Fault {
	if a.at(c) && a.calls.Add(1) == a.from {
		a.gone.Store(true)
	}
	if !a.gone.Load() {
		return nil
	}
	if c.Request.URL.Path == "/readyz" {
		n := a.asked.Add(1) - 1
		if a.onAsk != nil {
			a.onAsk(n)
		}
		if n == a.asks {
			a.gone.Store(false)
			return nil
		}
	}
	if n := a.failed.Add(1); n == 1000 && a.asks < never { // nobody asks, and the test would last for ever
		a.gone.Store(false)
	}
	return []faultproxy.Fault{faultproxy.Close, faultproxy.Reset, faultproxy.Refuse(503, "ServiceUnavailable")}[a.failed.Load()%3]
}

// F2: the API server goes away in the middle of a run: all wait, one asks, and the run goes on where it was.
func TestServerAwayWhileActing(t *testing.T) {
	t.Parallel()
	const objects, asks = 30, 3
	s := newSite(t)
	for _, action := range []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionTransform} {
		t.Run(string(action), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s, s.newNamespace(t), action)
			w.many(objects)
			runner, proxy := s.newRunner(t)
			a := &away{at: w.isChange, from: 8, asks: asks}
			proxy.Handle(a.rule)
			_, _ = runner.Run(t.Context(), w.request())
			w.wantAllDone(t, objects)
			if a.asked.Load() <= asks {
				t.Fatalf("it was asked %d times whether it is back", a.asked.Load())
			}
			// Each request in hand fails once, and so does the look at its object. Saving outcomes is tried beside that.
			if n := a.failed.Load(); n > 2*16+asks+objects {
				t.Errorf("%d requests were sent to a server that was away", n)
			}
		})
	}
}

// F1: the API server goes away for ten seconds at each request of a run's reading: the run waits for it, sees each object once, and completes.
func TestServerAwayWhileReading(t *testing.T) {
	t.Parallel()
	const objects, asks = 10, 6 // after 0.2, 0.4, 0.8, 1.6, 3.2 and 5 seconds, or up to half as much more
	s := newSite(t)
	var cases []gone
	for what, requests := range map[string]int64{"the first kind": 2, "a further page": 2, "the second kind": 1, "the kinds": 1, "the namespace's marks": 2} {
		for from := range requests {
			cases = append(cases, gone{what, from + 1})
		}
	}
	inParallel(t, s, cases, func(t *testing.T, namespace string, c gone) {
		w := newWorld(t, s, namespace, v1alpha1.ActionDelete, recipes["a script"])
		w.many(objects)
		runner, proxy := s.newRunner(t)
		a := &away{at: func(call *faultproxy.Call) bool { return inputs[c.input](call, namespace) && call.Verb != "delete" }, from: c.request, asks: asks}
		proxy.Handle(func(call *faultproxy.Call) faultproxy.Fault {
			if records(call) {
				return nil
			}
			if fault := a.rule(call); fault != nil || call.Verb != "list" || call.Namespace != namespace {
				return fault
			}
			return faultproxy.Paged(pageSize, nil)
		})
		_, _ = runner.Run(t.Context(), w.request())
		w.wantAllDone(t, objects)
		if n := a.asked.Load(); n != asks+1 {
			t.Errorf("it was asked %d times whether it is back, want %d", n, asks+1)
		}
		// Go sends a request once more by itself when a connection was closed that it used before.
		if n := a.failed.Load(); n > 1+1+asks {
			t.Errorf("%d requests were sent to a server that was away", n)
		}
	}, func() {})
}

// gone is a case: the API server goes away at the n-th request of a kind.
type gone struct {
	input   string
	request int64
}

func (g gone) String() string { return fmt.Sprintf("%s, request %d", g.input, g.request) }

// A run that is stopped while the API server is away ends, and says what is not known.
func TestStopWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	const objects = 30
	s := newSite(t)
	w := newWorld(t, s, s.newNamespace(t), v1alpha1.ActionDelete)
	w.many(objects)
	runner, proxy := s.newRunner(t)
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	a := &away{at: w.isChange, from: 8, asks: never}
	a.onAsk = func(n int64) {
		if n == 2 {
			stop(errors.New("somebody pulled the plug"))
		}
	}
	proxy.Handle(func(c *faultproxy.Call) faultproxy.Fault {
		if records(c) { // else nothing could be told
			return nil
		}
		return a.rule(c)
	})
	record, _ := runner.Run(ctx, w.request())
	if record.Status.Phase != v1alpha1.RunInterrupted || !strings.Contains(record.Status.Message, "somebody pulled the plug") {
		t.Fatalf("the run is %s: %s", record.Status.Phase, record.Status.Message)
	}
	proxy.Handle(nil)
	seen := w.check(t, "after the run")
	counts := map[v1alpha1.OutcomeResult]int{}
	for i, outcome := range seen.Records[0].Outcomes {
		counts[outcome.Outcome]++
		text := map[v1alpha1.OutcomeResult]string{
			v1alpha1.OutcomeFailed:      "it is not known whether it was deleted: ",
			v1alpha1.OutcomeInterrupted: "the run was stopped before it reached this object: somebody pulled the plug",
		}[outcome.Outcome]
		if !strings.HasPrefix(outcome.Reason, text) {
			t.Errorf("%s is %s: %s", seen.Records[0].Intents[i].Name, outcome.Outcome, outcome.Reason)
		}
	}
	if n := counts[v1alpha1.OutcomeDeleted]; n > 7 || counts[v1alpha1.OutcomeFailed] == 0 || counts[v1alpha1.OutcomeInterrupted] == 0 {
		t.Errorf("the outcomes are %v", counts)
	}
}

// What was sent, and had not taken place when it was looked at, is not told as if the run had never come to it.
func TestStopAfterChangesThatGotLost(t *testing.T) {
	t.Parallel()
	const objects = 30
	s := newSite(t)
	for _, action := range []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionTransform} {
		t.Run(string(action), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s, s.newNamespace(t), action)
			w.many(objects)
			runner, proxy := s.newRunner(t)
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			var sent sync.Map
			proxy.Handle(func(c *faultproxy.Call) faultproxy.Fault {
				switch {
				case w.isChange(c):
					sent.Store(c.Resource+"/"+c.Name, true)
					return faultproxy.CutBefore
				case c.Request.URL.Path == "/readyz":
					stop(errors.New("somebody pulled the plug"))
					return faultproxy.Close
				}
				return nil
			})
			_, _ = runner.Run(ctx, w.request())
			proxy.Handle(nil)
			seen := w.check(t, "after the run")
			for i, outcome := range seen.Records[0].Outcomes {
				intent := seen.Records[0].Intents[i]
				want, text := v1alpha1.OutcomeInterrupted, "the run was stopped before it reached this object: somebody pulled the plug"
				if _, was := sent.Load(intent.Resource + "/" + intent.Name); was {
					want, text = v1alpha1.OutcomeFailed, "the request was sent, but the object had not changed when it was read again, and then the run was stopped: somebody pulled the plug; "
				}
				if outcome.Outcome != want || !strings.HasPrefix(outcome.Reason, text) {
					t.Errorf("%s is %s: %s; want %s: %s", intent.Name, outcome.Outcome, outcome.Reason, want, text)
				}
			}
		})
	}
}

// A run that is stopped while it copies anew what had changed leaves the object alone, and says that it was stopped: nothing failed.
func TestStopWhileCopyingAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := newWorld(t, s, s.newNamespace(t), v1alpha1.ActionDelete)
	w.create("ConfigMap", "one", "")
	runner, proxy := s.newRunner(t)
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	var changed atomic.Bool
	proxy.Handle(func(c *faultproxy.Call) faultproxy.Fault {
		switch {
		case w.isChange(c) && !changed.Swap(true):
			w.change("one", "", map[string]any{"data": map[string]any{"late": "yes"}})
		case changed.Load() && c.Resource == "secrets" && ctx.Err() == nil:
			stop(errors.New("somebody pulled the plug"))
			return faultproxy.Close
		}
		return nil
	})
	_, _ = runner.Run(ctx, w.request())
	proxy.Handle(nil)
	outcomes := w.check(t, "after the run").Records[0].Outcomes
	if len(outcomes) != 1 || outcomes[0].Outcome != v1alpha1.OutcomeInterrupted || !strings.HasSuffix(outcomes[0].Reason, "somebody pulled the plug") {
		t.Errorf("the outcomes are %+v", outcomes)
	}
}

// records reports whether a call is about what runs write down.
func records(c *faultproxy.Call) bool {
	return c.Resource == "cleanerruns" || c.Resource == "secrets" || c.Resource == "reports"
}

// The same holds for an operator that takes a run over; and when it is stopped meanwhile, it leaves what it could not find out to the
// next.
func TestServerAwayWhileRecovering(t *testing.T) {
	t.Parallel()
	const objects = 30
	s := newSite(t)
	w := newWorld(t, s, s.newNamespace(t), v1alpha1.ActionDelete)
	w.many(objects)
	operate := func(from, asks int64, edit func(*run.Runner, *faultproxy.Proxy, *away)) {
		runner, proxy := s.newRunner(t)
		ctx, stop := context.WithCancelCause(context.Background())
		defer stop(nil)
		a := &away{at: w.isChange, from: from, asks: asks}
		a.onAsk = func(n int64) {
			if n == asks {
				return // it is back
			}
			if edit != nil {
				stop(runner.Act.Stopping)
			}
		}
		if edit != nil {
			edit(runner, proxy, a)
		}
		proxy.Handle(func(c *faultproxy.Call) faultproxy.Fault {
			if records(c) {
				return nil
			}
			return a.rule(c)
		})
		_, _ = runner.Run(ctx, w.request())
		if a.asked.Load() == 0 {
			t.Error("the server was never away")
		}
	}
	operate(8, never, func(runner *run.Runner, proxy *faultproxy.Proxy, a *away) { // it dies, and does not even say so
		config := proxy.Config()
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return deadTransport{next, &a.gone} })
		live, err := client.New(config, client.Options{Scheme: s.scheme, Mapper: s.mapper})
		must(t, err)
		runner.Record.Journal = journal.New(live, operatorNamespace, s.clock)
	})
	w.check(t, "after the first operator")
	operate(3, never, func(*run.Runner, *faultproxy.Proxy, *away) {})
	seen := w.check(t, "after the second operator")
	for i, outcome := range seen.Records[0].Outcomes {
		if outcome.Outcome == v1alpha1.OutcomeAbandoned || strings.Contains(outcome.Reason, "stop") {
			t.Errorf("%s is %s: %s", seen.Records[0].Intents[i].Name, outcome.Outcome, outcome.Reason)
		}
	}
	operate(3, 2, nil)
	seen = w.check(t, "after the third operator")
	status, done := seen.Records[0].Run.Status, 0
	for _, outcome := range seen.Records[0].Outcomes {
		if outcome.Outcome.IsFailure() != strings.HasPrefix(outcome.Reason, "it is not known whether it was deleted: ") {
			t.Errorf("an outcome is %s: %s", outcome.Outcome, outcome.Reason)
		} else if !outcome.Outcome.IsFailure() {
			done++
		}
	}
	// At the second change of the second operator up to 16 were in hand.
	if !status.Phase.Final() || len(seen.Records[0].Outcomes) != objects || done < objects-16 {
		t.Errorf("the run is %s, with %d of %d outcomes, %d of them good: %s", status.Phase, len(seen.Records[0].Outcomes), objects, done, status.Message)
	}
}

// deadTransport sends nothing that changes anything any more when its operator is dead.
type deadTransport struct {
	next http.RoundTripper
	dead *atomic.Bool
}

func (d deadTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if d.dead.Load() && r.Method != http.MethodGet {
		return nil, journal.ErrTaken
	}
	return d.next.RoundTrip(r)
}
