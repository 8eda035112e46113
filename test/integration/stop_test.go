// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

// stopper is the namespace that says whether a bench's operator may act, and the Switch that goes by it.
type stopper struct {
	*bench
	off      *stop.Switch
	home     string
	requests *requestLog
}

// stoppable makes the bench's operator go by a namespace of its own, which the user given may read; empty for anybody.
func (b *bench) stoppable(user string) *stopper {
	b.t.Helper()
	s := &stopper{bench: b, home: b.newNamespace(nil), requests: &requestLog{}}
	config := rest.CopyConfig(env.Config)
	config.Wrap(s.requests.wrap)
	config.Impersonate.UserName = user
	watcher, err := metadata.NewForConfig(config)
	must(b.t, err)
	s.off = stop.Watching(watcher, s.home)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.off.Start(ctx) }()
	b.t.Cleanup(func() { cancel(); must(b.t, <-done) })
	s.goBy(b)
	return s
}

// goBy makes an operator go by the Switch.
func (s *stopper) goBy(b *bench) {
	b.runner.Begin.Stop, b.runner.Record.Stop, b.runner.Act.Stop, b.reconciler.WhyOff = s.off, s.off, s.off, s.off.Why
}

// annotate sets the annotation, or removes it without a value.
func (s *stopper) annotate(value any) {
	s.t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1alpha1.StopAnnotation: value}}})
	must(s.t, err)
	home := &corev1.Namespace{}
	home.Name = s.home
	must(s.t, s.user.Patch(s.t.Context(), home, client.RawPatch("application/merge-patch+json", patch)))
}

// sees waits until the operator has seen that acting is off for the reason, or on without one.
func (s *stopper) sees(why string) {
	s.t.Helper()
	timeout := time.After(patience)
	must(s.t, s.off.Wait(s.t.Context()))
	for s.off.Why() != why {
		select {
		case <-s.off.Changes:
		case <-timeout:
			s.t.Fatalf("the operator says %q, want %q", s.off.Why(), why)
		}
	}
}

const incident = "all acting is stopped (incident 7)"

// TestStopEndsARunBeforeTheNextObject: what is in hand is finished, the rest is reported, runs are Scans until acting is resumed, and then act.
func TestStopEndsARunBeforeTheNextObject(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.stoppable("")
	s.sees("")
	b.configMaps(b.namespace, "old", inHand+4)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationCleanerReport)))
	l.startExecutor()
	at := newBarrier(t)
	l.holdRequests(at, http.MethodDelete, "/configmaps/old-")
	first := l.first()
	l.at(first)
	at.await(inHand)
	s.annotate("incident 7")
	s.sees(incident)
	at.open()
	l.finish()
	record := l.records()[0]
	wantInterrupted(t, b, &record, incident)
	wantRun(t, &record, v1alpha1.ReasonActingStopped, "The run was stopped: "+incident+". The next run after kubectl cleaner resume handles the rest. "+
		"20 of 20 objects matched; 16 deleted, 4 left alone.")
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonActingStopped, incident)
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled, "All acting is stopped (incident 7): nothing is touched.")
	if status := l.now.Status; status.DryRunReason != incident || status.Action != v1alpha1.ActionScan {
		t.Fatalf("the status says %q, and the action is %s", status.DryRunReason, status.Action)
	}

	l.at(first.Add(day))
	l.finish()
	record = l.records()[1]
	const reported = "4 of 4 objects matched; nothing was touched, because " + incident + "."
	wantRun(t, &record, v1alpha1.ReasonCompleted, reported)
	last := l.now.Status.LastRun
	if !record.Spec.DryRun || record.Spec.DryRunReason != incident || !last.DryRun || last.DryRunReason != incident || last.Matches[0].Outcome != v1alpha1.OutcomeDryRun {
		t.Fatalf("the record is %+v, and the last run %+v", record.Spec, last)
	}
	if report := b.reported(l.now); report.Spec.Message != reported || len(report.Spec.ResourceInfo) != 4 {
		t.Fatalf("the Report says %q of %d objects", report.Spec.Message, len(report.Spec.ResourceInfo))
	}
	if left := len(b.names(b.namespace)); left != 4 {
		t.Fatalf("%d objects are left, want 4", left)
	}

	s.annotate(nil)
	s.sees("")
	l.at(first.Add(2 * day))
	l.finish()
	record = l.records()[2]
	wantRun(t, &record, v1alpha1.ReasonCompleted, "4 of 4 objects matched; 4 deleted.")
	if l.now.Status.DryRunReason != "" || l.now.Status.Action != v1alpha1.ActionDelete {
		t.Fatalf("the status still says %q", l.now.Status.DryRunReason)
	}
}

// TestStopThatTheWatchHasNotSeen: the operator's namespace is read once more before a run acts. What that says, or that it says nothing, keeps
// the run from touching anything.
func TestStopThatTheWatchHasNotSeen(t *testing.T) {
	t.Parallel()
	const unknown = "Nothing was touched: it is not known whether all acting is stopped (annotation cleaner/stop on namespace NS): "
	const wayOut = "The operator must be able to get, list and watch its own namespace, which the environment variable NAMESPACE names"
	refuse := func(code int, reason string) func(s *stopper, r *http.Request) *http.Response {
		return func(_ *stopper, r *http.Request) *http.Response {
			return answer(r, code, []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the test says no","reason":"`+reason+`"}`))
		}
	}
	for name, test := range map[string]struct {
		meddle  func(s *stopper, r *http.Request) *http.Response
		reason  string
		message []string
	}{
		"it is stopped": {
			meddle: func(s *stopper, _ *http.Request) *http.Response { s.annotate("incident 7"); return nil },
			reason: v1alpha1.ReasonActingStopped, message: []string{"The run was stopped: " + incident + ".", "3 of 3 objects matched; 0 deleted, 3 left alone."},
		},
		"it may not be read":   {meddle: refuse(http.StatusForbidden, "Forbidden"), reason: v1alpha1.ReasonForbidden, message: []string{unknown, wayOut}},
		"it does not exist":    {meddle: refuse(http.StatusNotFound, "NotFound"), reason: v1alpha1.ReasonFailed, message: []string{unknown, wayOut}},
		"the server is broken": {meddle: refuse(http.StatusInternalServerError, "InternalError"), reason: v1alpha1.ReasonFailed, message: []string{unknown, wayOut}},
		"it is another's": {
			meddle: func(_ *stopper, r *http.Request) *http.Response {
				return answer(r, http.StatusOK, []byte(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{}}`))
			},
			reason: v1alpha1.ReasonFailed, message: []string{unknown, "the answer is not an API server's"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.stoppable("")
			s.sees("")
			b.configMaps(b.namespace, "old", 3)
			s.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "/namespaces/"+s.home) {
					return test.meddle(s, r), nil
				}
				return nil, nil
			})
			wantRun(t, b.run(b.cleaner(v1alpha1.ActionScan)), v1alpha1.ReasonCompleted, "3 of 3 objects matched.")
			if asked := s.requests.count(http.MethodGet, "/"+s.home); asked != 0 {
				t.Fatalf("a Scan asked %d times", asked)
			}
			record := b.run(b.cleaner(v1alpha1.ActionDelete))
			for i := range test.message {
				test.message[i] = strings.ReplaceAll(test.message[i], "namespace NS", "namespace "+s.home)
			}
			wantRun(t, record, test.reason, test.message...)
			if record.Status.Intent != nil || record.Status.Acted != 0 || s.requests.count(http.MethodGet, "/"+s.home) != 1 {
				t.Fatalf("the record is %+v", record.Status)
			}
			b.wantNames("old-0", "old-1", "old-2")
		})
	}
}

// TestNamespaceThatMayNotBeWatched: an operator that would not see a stop does not act.
func TestNamespaceThatMayNotBeWatched(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.stoppable("somebody-without-rights")
	b.configMap("old")
	record := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, record, v1alpha1.ReasonForbidden, "it is not known whether all acting is stopped", `User "somebody-without-rights" cannot`, "must be able to get, list and watch its own namespace")
	b.wantNames("old")
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionScan)), v1alpha1.ReasonCompleted, "1 of 1 object matched.")
}

// TestNamespaceThatDoesNotExist: nobody could stop an operator there.
func TestNamespaceThatDoesNotExist(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	watcher, err := metadata.NewForConfig(env.Config)
	must(t, err)
	s := &stopper{bench: b, off: stop.Watching(watcher, "no-such-namespace")}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.off.Start(ctx) }()
	t.Cleanup(func() { cancel(); must(t, <-done) })
	s.goBy(b)
	b.configMap("old")
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionDelete)), v1alpha1.ReasonFailed, "Nothing was touched: it is not known whether all acting is stopped", "the operator's namespace no-such-namespace does not exist")
	b.wantNames("old")
}

// TestStopOfARunThatIsTakenOver: its rest is only looked at.
func TestStopOfARunThatIsTakenOver(t *testing.T) {
	t.Parallel()
	const after = "The operator stopped while the run was acting, and the run was not resumed: " + incident + ". "
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		l, next := cutOffRun(t, 3, http.MethodDelete)
		s := next.stoppable("")
		s.annotate("incident 7")
		s.sees(incident)
		must(t, l.user.Delete(t.Context(), l.object("old-0")))
		record := next.goOn(l.first().Add(time.Minute))
		wantRun(t, record, v1alpha1.ReasonActingStopped, after+"3 of 3 objects matched; 0 deleted, 1 found gone after the run was cut off, 2 left alone.")
		wantOutcome(t, record, "old-1", v1alpha1.OutcomeAbandoned, incident)
		if deletes(next) != 0 {
			t.Fatal("the next operator went on")
		}
	})
	t.Run("meanwhile", func(t *testing.T) {
		t.Parallel()
		l, next := cutOffRun(t, inHand+8, http.MethodDelete)
		s := next.stoppable("")
		s.sees("")
		at := newBarrier(t)
		next.holdRequests(at, http.MethodDelete, "/configmaps/old-")
		next.at(l.first().Add(time.Minute))
		at.await(inHand)
		s.annotate("incident 7")
		s.sees(incident)
		at.open()
		next.finish()
		record := &next.records()[0]
		wantRun(t, record, v1alpha1.ReasonActingStopped, after+"24 of 24 objects matched; 16 deleted, 8 left alone.")
		if left := len(l.names(l.namespace)); left != 8 {
			t.Fatalf("%d objects are left, want those that were not in hand", left)
		}
	})
	t.Run("nobody knows", func(t *testing.T) {
		t.Parallel()
		l, next := cutOffRun(t, 3, http.MethodDelete)
		next.stoppable("somebody-without-rights")
		record := next.goOn(l.first().Add(time.Minute))
		wantRun(t, record, v1alpha1.ReasonForbidden, "and the run could not be resumed: it is not known whether all acting is stopped", "0 deleted, 3 left alone.")
		if deletes(next) != 0 {
			t.Fatal("the next operator went on")
		}
	})
}

// TestOverlaysLetTheOperatorSeeAStop: with the rights of each overlay it can watch its namespace.
func TestOverlaysLetTheOperatorSeeAStop(t *testing.T) {
	t.Parallel()
	for _, overlay := range []string{"default", "overlays/read-only", "overlays/scoped", "overlays/service-accounts"} {
		t.Run(overlay, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			user := b.operatorUnder(overlay)
			awaitRight(t, user, authorizationv1.ResourceAttributes{Verb: "watch", Resource: "namespaces"})
			s := b.stoppable(user)
			s.sees("")
			must(t, s.off.Confirm(t.Context()))
			s.annotate("")
			s.sees("all acting is stopped (no reason was given)")
		})
	}
}
