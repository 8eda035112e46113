// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// fallBehind stops one operator just before it writes down what it intends. Meanwhile another one takes the run up, and acts
// until the barrier opens.
func fallBehind(t *testing.T) (slow, fast *life, behind, acting *barrier) {
	t.Helper()
	b := newBench(t)
	b.configMap("old")
	slow = b.follow(b.cleaner(v1alpha1.ActionDelete))
	slow.startExecutor()
	behind, acting = newBarrier(t), newBarrier(t)
	slow.holdRequests(behind, http.MethodPut, "/cleanerruns/")
	slow.at(slow.first())
	behind.await(1)
	fast = slow.successor()
	fast.startExecutor()
	fast.holdRequests(acting, http.MethodDelete, "/configmaps/old")
	fast.step()
	acting.await(1)
	return slow, fast, behind, acting
}

// wantOneRun fails the test unless the run happened once, by the operator that was not behind, and everything says so.
func wantOneRun(t *testing.T, slow, fast *life) {
	t.Helper()
	if deletes(slow) != 0 || deletes(fast) != 1 || !slow.exists("younger") {
		t.Fatal("the operator that fell behind deleted something")
	}
	slow.wantRecords(slow.first())
	record := slow.records()[0]
	wantRun(t, &record, v1alpha1.ReasonCompleted, "; 1 deleted.")
	wantCondition(t, slow.get(slow.now.Name), v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, "; 1 deleted.")
}

// TestOperatorThatFellBehindTouchesNothing: the other one has ended the run.
func TestOperatorThatFellBehindTouchesNothing(t *testing.T) {
	t.Parallel()
	slow, fast, behind, acting := fallBehind(t)
	acting.open()
	fast.finish()
	slow.configMap("younger")
	behind.open()
	slow.finish()
	wantOneRun(t, slow, fast)
}

// TestOperatorThatFellBehindSpoilsNothing: the other one is acting on the objects.
func TestOperatorThatFellBehindSpoilsNothing(t *testing.T) {
	t.Parallel()
	slow, fast, behind, acting := fallBehind(t)
	slow.configMap("younger")
	behind.open()
	slow.finish()
	acting.open()
	fast.finish()
	wantOneRun(t, slow, fast)
}

// TestConflictsBackOff: a cache that is far behind, or somebody who keeps writing, does not make the operator ask twenty times a second.
func TestConflictsBackOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	conflicts := 12
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPatch || conflicts == 0 {
			return nil, nil
		}
		conflicts--
		return answer(r, http.StatusConflict, []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","message":"it changed","code":409}`)), nil
	})
	for delay := 50 * time.Millisecond; conflicts > 0; delay = min(2*delay, 30*time.Second) {
		l.step()
		l.wantRequeue(delay)
	}
	l.step()
	l.change(scheduled("0 4 * * *"))
	conflicts = 1
	l.step()
	l.wantRequeue(50 * time.Millisecond) // it begins anew
}
