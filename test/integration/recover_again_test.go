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
	"github.com/kubecleaner/kubecleaner/pkg/executor"
)

// all is an aggregated script that chooses everything.
const all = `function evaluate()
	local found = {}
	for _, r in ipairs(resources) do table.insert(found, {resource = r}) end
	return {resources = found}
end`

// TestNamespaceIsProtectedWhileARunIsJudgedAgain: the protection is read after everything was judged again, however long that takes.
func TestNamespaceIsProtectedWhileARunIsJudgedAgain(t *testing.T) {
	t.Parallel()
	l, next := cutOffRun(t, 1, http.MethodDelete, aggregated(all))
	next.beforeFirst(http.MethodGet, "/configmaps", func() {
		var namespace corev1.Namespace
		must(t, l.user.Get(t.Context(), client.ObjectKey{Name: l.namespace}, &namespace))
		namespace.Annotations = map[string]string{v1alpha1.ProtectAnnotation: "yes"}
		must(t, l.user.Update(t.Context(), &namespace))
	})
	record := next.goOn(l.first().Add(time.Minute))
	wantOutcome(t, record, "old-0", v1alpha1.OutcomeProtected)
	l.wantNames("old-0")
}

// TestRunThatCannotBeJudgedAgain is not resumed: one object that nobody can judge, or one list that may not be read, may say that a victim
// is used.
func TestRunThatCannotBeJudgedAgain(t *testing.T) {
	t.Parallel()
	withEventsOf := func(c *v1alpha1.Cleaner) {
		c.Spec.OnPartialView = v1alpha1.PartialViewSkip
		selectors(c)[0].IncludeEvents = ptr.To(true)
		selectors(c)[0].Evaluate = "function evaluate() if #events > 0 then error('what is that?') end return {matching = true} end"
	}
	t.Run("an object", func(t *testing.T) {
		t.Parallel()
		l, next := cutOffRun(t, 2, http.MethodDelete, withEventsOf)
		l.event(l.object("old-0"), "ConfigMap", "Used", 1)
		record := next.goOn(l.first().Add(time.Minute))
		wantRun(t, record, v1alpha1.ReasonFailed, "the run was not resumed: reading everything a second time: ", "what is that?", "0 deleted, 2 left alone.")
		l.wantNames("old-0", "old-1")
	})
	t.Run("a list", func(t *testing.T) {
		t.Parallel()
		l, next := cutOffRun(t, 2, http.MethodDelete, withEventsOf)
		next.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/events") && r.Method == http.MethodGet {
				return answer(r, http.StatusForbidden, nil), nil
			}
			return nil, nil
		})
		record := next.goOn(l.first().Add(time.Minute))
		wantRun(t, record, v1alpha1.ReasonForbidden, "the run was not resumed: reading everything a second time: ", "0 deleted, 2 left alone.")
		l.wantNames("old-0", "old-1")
	})
}

// TestStoppedWhileARunIsJudgedAgain: that says nothing of the run, so it is no attempt that did not get on.
func TestStoppedWhileARunIsJudgedAgain(t *testing.T) {
	t.Parallel()
	l, next := cutOffRun(t, 2, http.MethodDelete, aggregated(all))
	last := next
	for range 4 {
		running := make(chan context.Context, 1)
		last = last.successor(func(s *settings) {
			s.gate = func(ctx context.Context, _ executor.Request) { running <- ctx }
		})
		stop := last.startExecutor()
		at := newBarrier(t)
		last.holdRequests(at, http.MethodGet, "/configmaps")
		last.at(l.first().Add(time.Minute))
		at.await(1)
		stopped := make(chan struct{})
		go func() { defer close(stopped); stop() }()
		<-(<-running).Done()
		at.open()
		<-stopped
		if record := last.records()[0]; record.Status.Phase != v1alpha1.RunExecuting || record.Status.Attempts > 1 {
			t.Fatalf("the record says %s after %d attempts: %s", record.Status.Phase, record.Status.Attempts, record.Status.Message)
		}
	}
	last = last.successor()
	last.startExecutor()
	wantRun(t, last.goOn(l.first().Add(2*time.Minute)), v1alpha1.ReasonCompleted, "2 of 2 objects matched; 2 deleted.")
	l.wantNames()
}

// TestLargeScriptIsAskedAgainAfterAMinute: while the run acts, its aggregated script may use as much memory as before.
func TestLargeScriptIsAskedAgainAfterAMinute(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(s *settings) { s.memory = 256 << 20 })
	b.configMaps(b.namespace, "old", 2*inHand)
	script := strings.Replace(all, "local found = {}", "local found, much = {}, {} for i = 1, 1500000 do much[i] = {} end", 1)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, aggregated(script), maxCount(100)))
	l.startExecutor()
	b.beforeFirst(http.MethodDelete, "/configmaps/old-0", func() { b.clock.Step(61 * time.Second) })
	l.at(l.first())
	l.finish()
	wantCounts(t, &l.records()[0], v1alpha1.RunCounts{Considered: 2 * inHand, Matched: 2 * inHand, Acted: 2 * inHand})
	b.wantNames()
}
