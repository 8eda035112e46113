// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// failing answers the operator's requests of the method to paths with the part with a fault of the server's.
func (b *bench) failing(method, part string) {
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == method && strings.Contains(r.URL.Path, part) {
			return answer(r, http.StatusInternalServerError, []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"etcdserver: leader changed","code":500}`)), nil
		}
		return nil, nil
	})
}

// TestTakingUpThatFailsIsTriedAgain: nobody says that nothing was touched, and nobody tries without a pause.
func TestTakingUpThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, failing := range map[string]struct{ method, part string }{
		"lock":      {http.MethodPost, "/cleanerruns"},
		"take over": {http.MethodPut, "/cleanerruns/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, next := cutOffRun(t, 3, http.MethodDelete)
			must(t, l.user.Delete(t.Context(), l.object("old-0"))) // by the operator that is no more
			next.failing(failing.method, failing.part)
			next.at(l.first().Add(5 * time.Minute))
			next.finish()
			for range 3 { // at once, it is not tried again
				next.step()
			}
			next.wantActive(l.first())
			wantCondition(t, next.now, v1alpha1.ConditionRunSucceeded, "Unknown", v1alpha1.ReasonRunning)
			if len(next.finished) != 0 || next.again == 0 || next.again > 15*time.Second {
				t.Fatalf("it was tried again without a pause; RequeueAfter is %s", next.again)
			}
			next.requests.setMeddle(nil)
			record := next.goOn(l.first().Add(6 * time.Minute))
			wantCounts(t, record, v1alpha1.RunCounts{Considered: 3, Matched: 3, Acted: 3})
			l.wantNames()
		})
	}
}

// TestRecoveryDoesNotTrustWhatOthersDecide: an object that did not change itself may be in use by now, or in a namespace that is not
// selected any more.
func TestRecoveryDoesNotTrustWhatOthersDecide(t *testing.T) {
	t.Parallel()
	t.Run("events", func(t *testing.T) { // which come without a change of the object
		t.Parallel()
		l, next := cutOffRun(t, 2, http.MethodDelete, evaluate("function evaluate() return {matching = #events == 0} end"), func(c *v1alpha1.Cleaner) {
			selectors(c)[0].IncludeEvents = ptr.To(true)
		})
		l.event(l.object("old-0"), "ConfigMap", "Used", 1)
		record := next.goOn(l.first().Add(time.Minute))
		wantOutcome(t, record, "old-0", v1alpha1.OutcomeChanged, "before it acted, the run read everything again, and then the object did not match any more")
		wantOutcome(t, record, "old-1", v1alpha1.OutcomeDeleted, "")
		l.wantNames("old-0")
	})
	t.Run("aggregated", func(t *testing.T) {
		t.Parallel()
		l, next := cutOffRun(t, 2, http.MethodDelete, aggregated(`function evaluate()
			local used, found = {}, {}
			for _, r in ipairs(resources) do if r.data.uses ~= nil then used[r.data.uses] = true end end
			for _, r in ipairs(resources) do if r.data.uses == nil and not used[r.metadata.name] then table.insert(found, {resource = r}) end end
			return {resources = found}
		end`))
		l.configMap("user", func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"uses": "old-0"} })
		record := next.goOn(l.first().Add(time.Minute))
		wantRun(t, record, v1alpha1.ReasonCompleted, "2 of 2 objects matched; 1 deleted, 1 left alone.")
		wantOutcome(t, record, "old-0", v1alpha1.OutcomeChanged, "before it acted, the run read everything again, and then the object did not match any more")
		l.wantNames("old-0", "user")
	})
	t.Run("namespace", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		label := "me-" + b.namespace
		b.namespace = b.newNamespace(map[string]string{"clean": label})
		b.configMap("old-0")
		l := b.follow(b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) {
			s := &c.Spec.ResourcePolicySet.ResourceSelectors[0]
			s.Namespace, s.NamespaceSelector = "", "clean="+label
		}))
		l.startExecutor()
		at := newBarrier(t)
		b.holdRequests(at, http.MethodDelete, "/configmaps/old-")
		l.at(l.first())
		at.await(1)
		next := l.successor()
		next.startExecutor()
		var namespace corev1.Namespace
		must(t, b.user.Get(t.Context(), client.ObjectKey{Name: b.namespace}, &namespace))
		namespace.Labels["clean"] = "no"
		must(t, b.user.Update(t.Context(), &namespace))
		record := next.goOn(l.first().Add(time.Minute))
		wantOutcome(t, record, "old-0", v1alpha1.OutcomeChanged, "its namespace changed since it was judged, and is not selected any more")
		b.wantNames("old-0")
	})
	t.Run("hours later", func(t *testing.T) {
		t.Parallel()
		l, next := cutOffRun(t, 1, http.MethodDelete)
		record := next.goOn(l.first().Add(61 * time.Minute)) // long before the next nominal time
		wantRun(t, record, v1alpha1.ReasonFailed, "it was too late: a run is resumed only until")
		l.wantNames("old-0")
	})
}

// TestRunWhoseRecordIsDeletedStops: with the record its intent and its copies are gone.
func TestRunWhoseRecordIsDeletedStops(t *testing.T) {
	t.Parallel()
	const n = 12 * inHand // until it is known that the record is gone, the run goes on
	b := newBench(t)
	b.configMaps(b.namespace, "old", n)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	at := newBarrier(t)
	b.holdRequests(at, http.MethodDelete, "/configmaps/old-")
	l.at(l.first())
	at.await(inHand)
	record := l.records()[0]
	must(t, b.user.Delete(t.Context(), &record))
	for _, part := range b.parts(&record) { // as the garbage collector does
		must(t, b.user.Delete(t.Context(), &part))
	}
	b.clock.SetTime(b.clock.Now().Add(2 * time.Second)) // outcomes are saved each second
	at.open()
	l.finish()
	if left := len(b.names(b.namespace)); left == 0 {
		t.Fatalf("the run went on to its end, without copies of the %d objects", n)
	}
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed, "The run was stopped: ", "somebody deleted the CleanerRun during the run")
	l.wantActive(time.Time{})
	if parts := b.parts(&record); len(parts) != 0 || len(l.records()) != 0 {
		t.Fatalf("it left %d Secrets and %d records behind", len(parts), len(l.records()))
	}
}

// TestRunWhoseRecordIsDeletedBeforeItIsRead: the run has ended, and is not done twice.
func TestRunWhoseRecordIsDeletedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	l.at(l.first())
	l.waitFinished(l.now)
	record := l.records()[0]
	wantRun(t, &record, v1alpha1.ReasonCompleted, "1 deleted")
	must(t, b.user.Delete(t.Context(), &record))
	b.configMap("fresh")
	for range 3 {
		b.clock.SetTime(b.clock.Now().Add(time.Minute))
		l.step()
	}
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed, "the run is not repeated")
	l.wantActive(time.Time{})
	b.wantNames("fresh")
}

// TestSweepWithTheRightsOfTheOperatorAlone: what Cleaners may touch is not among them.
func TestSweepWithTheRightsOfTheOperatorAlone(t *testing.T) {
	config := deployed(t)
	b := newBench(t, as(config))
	b.configMap("old")
	account := b.account(may("configmaps", "get", "list", "delete"))
	run := b.run(b.cleaner(v1alpha1.ActionDelete, account, rollback(v1alpha1.Rollback{RetentionSeconds: ptr.To(int64(3600))})))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 deleted")
	b.clock.SetTime(b.clock.Now().Add(2 * time.Hour))
	b.sweep(1 << 40)
	if b.stored(run).Status.Copies.Dropped == "" {
		t.Fatal("the record says that the copies are kept")
	}
}

// TestOneLargeRunDoesNotPushOutTheOthers when all copies together take too much.
func TestOneLargeRunDoesNotPushOutTheOthers(t *testing.T) {
	b := newBench(t)
	b.sweep(1) // those of other tests
	b.configMap("victim")
	theirs := b.run(b.cleaner(v1alpha1.ActionDelete))
	b.clock.SetTime(b.clock.Now().Add(10 * time.Second))
	b.configMaps(b.namespace, "big", 30)
	large := b.run(b.cleaner(v1alpha1.ActionDelete))
	b.sweep(b.stored(large).Status.Copies.Bytes - 1)
	if b.stored(theirs).Status.Copies.Dropped != "" || b.stored(large).Status.Copies.Dropped == "" {
		t.Fatalf("of the small run it says %q, of the large one %q", b.stored(theirs).Status.Copies.Dropped, b.stored(large).Status.Copies.Dropped)
	}
}

// TestSweepThatPanicsEndsNothing: it would end the process, at each start anew.
func TestSweepThatPanicsEndsNothing(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/cleanerruns") {
			cancel()
			fault()
		}
		return nil, nil
	})
	must(t, b.sweeper(1<<40).Start(ctx))
}
