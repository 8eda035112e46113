// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
)

// TestOutgrownRunBeginsAnew: a run whose scripts need more memory than it has, wherever they do, touches nothing and begins anew, under the
// same record, with more. What changed in the meantime counts. Its end is reported once.
func TestOutgrownRunBeginsAnew(t *testing.T) {
	t.Parallel()
	const much = "local t = {} for i = 1, 400000 do t[i] = {} end "
	for name, c := range map[string]struct {
		action v1alpha1.Action
		edit   func(*v1alpha1.Cleaner)
		ended  string
	}{
		"evaluate":   {v1alpha1.ActionDelete, evaluate("function evaluate() " + much + " return {matching = #t > 0} end"), "3 of 3 objects matched; 3 deleted."},
		"aggregated": {v1alpha1.ActionDelete, aggregated(needsMuch), "1 of 3 objects matched; 1 deleted."},
		"transform": {v1alpha1.ActionTransform, func(c *v1alpha1.Cleaner) {
			c.Spec.Transform = "function transform() " + much + ` obj.data = {changed = "yes"} return {resource = obj} end`
		}, "3 of 3 objects matched; 3 changed."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			again, goOn := make(chan struct{}), make(chan struct{})
			release := sync.OnceFunc(func() { close(goOn) })
			defer release()
			b := newBench(t, func(s *settings) {
				s.memory = 24 << 20
				s.gate = func(_ context.Context, request executor.Request) {
					if request.Weight == 0 {
						close(again)
						<-goOn
					}
				}
			})
			b.configMap("first")
			b.configMap("second")
			l := b.follow(b.cleaner(c.action, c.edit))
			l.startExecutor()
			nominal := l.first()
			l.at(nominal)
			<-again
			l.step()
			l.wantActive(nominal)
			record := l.records()[0]
			if record.Status.Phase != "" || record.Status.CompletionTime != nil || record.Status.Progress == nil || record.Status.Progress.Phase != v1alpha1.ProgressWaiting {
				t.Errorf("before it begins anew, the record says %+v", record.Status)
			}
			if n := deletes(l) + b.requests.count(http.MethodPatch, "/configmaps/first"); n != 0 {
				t.Errorf("it acted %d times", n)
			}
			b.configMap("third")
			release()
			l.finish()
			l.wantRecords(nominal)
			record = l.records()[0]
			wantRun(t, &record, v1alpha1.ReasonCompleted, c.ended)
			if record.Status.Progress != nil || record.Status.Attempts > 1 || l.now.Status.ActiveRun != nil || l.now.Status.LastRun == nil {
				t.Errorf("after its end: %+v, %+v", record.Status, l.now.Status)
			}
			l.wantEvents(v1alpha1.ReasonCompleted, c.ended)
		})
	}
}

// TestResumedRunThatNeedsMoreMemory: the next leader does not know how much memory the run needed, and gives it more. That is no attempt
// that did not get on.
func TestResumedRunThatNeedsMoreMemory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 2)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, aggregated(needsMuch)))
	l.startExecutor()
	at := newBarrier(t)
	b.holdRequests(at, http.MethodDelete, "/configmaps/old-")
	l.at(l.first())
	at.await(1)
	next := l.successor(func(s *settings) { s.memory = 24 << 20 })
	next.startExecutor()
	record := next.goOn(l.first().Add(time.Minute))
	wantRun(t, record, v1alpha1.ReasonCompleted, "1 of 2 objects matched; 1 deleted.")
	if record.Status.Recoveries != 2 || record.Status.Attempts != 2 {
		t.Errorf("%d recoveries, %d attempts", record.Status.Recoveries, record.Status.Attempts)
	}
}

// TestOutgrownWhereNothingMoreIsToBeHad: the object is one that could not be judged, and the message says why.
func TestOutgrownWhereNothingMoreIsToBeHad(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	c := b.cleaner(v1alpha1.ActionDelete, evaluate(`function evaluate() local t = {} for i = 1, 1000 do t[i] = string.rep("x", 1000000 + i) end end`))
	got := b.run(c)
	for again := 0; again < 4 && strings.Contains(got.Status.Message, "took longer than"); again++ { // to fill the memory takes a busy machine seconds
		got = b.run(c)
	}
	if got.Status.Reason != v1alpha1.ReasonViewIncomplete || !strings.Contains(got.Status.Message, "used more than 304 MiB of memory") || !got.Status.Exhausted {
		t.Errorf("got %s: %s", got.Status.Reason, got.Status.Message)
	}
	b.wantUntouched()
}
