// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// unshown is a Cleaner with one run behind it, by an operator that shows scheduled Scans only when they take longer than a second.
func unshown(t *testing.T, edits ...func(*bench, *v1alpha1.Cleaner)) (l *life, stop func()) {
	t.Helper()
	b := newBench(t)
	b.reconciler.ShowAfter = time.Second
	b.configMap("old")
	l = b.follow(b.cleaner(v1alpha1.ActionScan, func(c *v1alpha1.Cleaner) {
		c.Spec.SuccessfulRunsHistoryLimit = ptr.To(int32(0))
		for _, edit := range edits {
			edit(b, c)
		}
	}))
	stop = l.startExecutor()
	l.at(l.first())
	l.wantActive(l.first()) // the first one is written: the cache may be behind
	l.finish()
	l.step() // deletes the record
	return l, stop
}

// writes are those since the n-th request. The Event, which the manager's recorder writes, is not among them.
func (l *life) writes(n int) []string {
	return slices.DeleteFunc(l.requests.of(n), func(request string) bool { return strings.HasPrefix(request, "GET ") })
}

// TestAScheduledScanTakesFiveWrites: these four and the Event.
func TestAScheduledScanTakesFiveWrites(t *testing.T) {
	t.Parallel()
	t.Run("as the operator", func(t *testing.T) {
		t.Parallel()
		wantFiveWrites(t, func(*bench, *v1alpha1.Cleaner) {})
	})
	t.Run("as an account", func(t *testing.T) {
		t.Parallel()
		wantFiveWrites(t, func(b *bench, c *v1alpha1.Cleaner) { b.account(may("configmaps", "list"))(c) })
	})
}

func wantFiveWrites(t *testing.T, edit func(*bench, *v1alpha1.Cleaner)) {
	l, _ := unshown(t, edit)
	before := l.requests.len()
	l.at(l.first().Add(24 * time.Hour))
	l.wantRequeue(time.Second)
	l.finish()
	l.step()
	const api = "/apis/apps.projectsveltos.io/v1alpha1/"
	run := api + "cleanerruns/" + l.now.Status.LastRun.Name
	want := []string{"DELETE " + run, "PATCH " + api + "cleaners/" + l.now.Name + "/status", "POST " + api + "cleanerruns", "PUT " + run + "/status"}
	if diff := cmp.Diff(want, l.writes(before)); diff != "" {
		t.Errorf("the writes (-want +got):\n%s", diff)
	}
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted)
	l.wantNext(l.first().Add(48 * time.Hour))
	l.wantActive(time.Time{})
	if !l.now.Status.LastRun.NominalTime.Time.Equal(l.first().Add(24 * time.Hour)) {
		t.Errorf("the last run is that of %s", l.now.Status.LastRun.NominalTime)
	}
}

// TestUnshownScanEndsWhenTheAccountChanges: the status does not say as whom it was asked for, but the request does.
func TestUnshownScanEndsWhenTheAccountChanges(t *testing.T) {
	t.Parallel()
	at := newBarrier(t)
	l, _ := unshown(t, func(b *bench, c *v1alpha1.Cleaner) { b.account(may("configmaps", "list"))(c) })
	l.holdRequests(at, http.MethodPost, "/cleanerruns")
	second := l.first().Add(24 * time.Hour)
	l.at(second)
	at.await(1)
	if request, _ := l.executor.Active(l.now.Name); l.now.Status.ActiveRun != nil || request.Account != l.namespace+"/cleaner" {
		t.Errorf("the status shows %+v, and the request is as %q", l.now.Status.ActiveRun, request.Account)
	}
	at.open()
	l.finish()
	edit(l.bench, l.now, naming(l.namespace, "other"))
	record := l.carryOut(t.Context(), run.Request{
		Cleaner: l.now.Name, Nominal: second.Add(24 * time.Hour), Trigger: v1alpha1.TriggerSchedule, Account: l.namespace + "/cleaner",
	})
	wantRun(t, record, v1alpha1.ReasonFailed, "Nothing was read or touched: serviceAccountRef was changed after the run was queued")
}

func TestAScanThatTakesLongIsShown(t *testing.T) {
	t.Parallel()
	at := newBarrier(t)
	l, _ := unshown(t)
	l.holdRequests(at, http.MethodPost, "/cleanerruns")
	second := l.first().Add(24 * time.Hour)
	l.at(second)
	at.await(1)
	if l.now.Status.ActiveRun != nil {
		t.Fatal("the run is shown at once")
	}
	l.at(second.Add(time.Second))
	l.wantActive(second)
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "Unknown", v1alpha1.ReasonRunning)
	at.open()
	l.finish()
	l.wantActive(time.Time{})
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted)
}

// TestACleanerThatChangedIsShownAtOnce: the write shows whether the cache is behind.
func TestACleanerThatChangedIsShownAtOnce(t *testing.T) {
	t.Parallel()
	l, _ := unshown(t)
	l.change(func(c *v1alpha1.Cleaner) { c.Labels = map[string]string{"edited": "yes"} })
	l.at(l.first().Add(24 * time.Hour))
	l.wantActive(l.first().Add(24 * time.Hour))
	l.finish()
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted)
}

// TestRestartDuringARunThatIsNotShown: the next leader finds the run due again, and its record.
func TestRestartDuringARunThatIsNotShown(t *testing.T) {
	t.Parallel()
	l, _ := unshown(t)
	second := l.first().Add(24 * time.Hour)
	l.at(second)
	l.waitFinished(l.now)
	next := l.successor()
	next.startExecutor()
	next.step()
	next.wantActive(second)
	next.finish()
	next.wantRecords(second)
	wantCondition(t, next.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted)
	next.wantNext(second.Add(24 * time.Hour))
}

// TestSweepAfterARunThatIsNotShown: the run was cut off before the status named it. It is not closed, because the next leader carries it out.
func TestSweepAfterARunThatIsNotShown(t *testing.T) {
	at := newBarrier(t)
	l, stop := unshown(t)
	second := l.first().Add(24 * time.Hour)
	l.holdRequests(at, http.MethodGet, "/configmaps")
	l.at(second)
	at.await(1)
	ended := make(chan struct{})
	go func() { defer close(ended); stop() }()
	at.open()
	<-ended
	record := l.records()[0]
	if record.Status.Phase != "" || l.get(l.now.Name).Status.ActiveRun != nil {
		t.Fatalf("the record is %+v", record.Status)
	}
	next := l.successor()
	next.startExecutor()
	next.sweep(1 << 40)
	if swept := next.stored(&record); swept.Status.Phase != "" {
		t.Fatalf("the sweep ended the run: %s", swept.Status.Message)
	}
	next.step()
	next.finish()
	next.wantRecords(second)
	wantCondition(t, next.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted)
}
