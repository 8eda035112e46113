// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// cutOffRun is an operator that stands still with the first requests of its run in hand, and the next one, which has not begun.
// All of the run's objects are named old-N.
func cutOffRun(t *testing.T, n int, method string, edit ...func(*v1alpha1.Cleaner)) (l, next *life) {
	t.Helper()
	b := newBench(t)
	b.configMaps(b.namespace, "old", n, func(cm *corev1.ConfigMap) { cm.Data["stale"] = "yes" })
	action := v1alpha1.ActionDelete
	if method == http.MethodPatch {
		action = v1alpha1.ActionTransform
	}
	l = b.follow(b.cleaner(action, edit...))
	l.startExecutor()
	at := newBarrier(t) // never opened: this operator is no more
	b.holdRequests(at, method, "/configmaps/old-")
	at.instead = func() any { return l.records() }
	l.at(l.first())
	at.await(min(n, inHand))
	next = l.successor()
	next.startExecutor()
	return l, next
}

// goOn lets the next operator take the run up at the given time, and returns the record.
func (l *life) goOn(at time.Time) *v1alpha1.CleanerRun {
	l.t.Helper()
	l.at(at)
	l.finish()
	return &l.records()[0]
}

func (b *bench) object(name string) *corev1.ConfigMap {
	b.t.Helper()
	var cm corev1.ConfigMap
	must(b.t, b.user.Get(b.t.Context(), client.ObjectKey{Namespace: b.namespace, Name: name}, &cm))
	return &cm
}

// TestRecoveryLooksAtEachObject: what became of an object is found out from the live object, and only one that is as it was judged
// is dealt with.
func TestRecoveryLooksAtEachObject(t *testing.T) {
	t.Parallel()
	l, next := cutOffRun(t, 6, http.MethodDelete)
	must(t, l.user.Delete(t.Context(), l.object("old-0"))) // the operator's delete, or somebody else's
	must(t, l.user.Delete(t.Context(), l.object("old-1")))
	l.configMap("old-1") // and made again
	changed := l.object("old-2")
	changed.Data["n"] = "changed"
	must(t, l.user.Update(t.Context(), changed))
	held := l.object("old-3")
	held.Finalizers = []string{"example.com/hold"}
	must(t, l.user.Update(t.Context(), held))
	must(t, l.user.Delete(t.Context(), held))
	must(t, l.user.Delete(t.Context(), l.object("old-4")))

	record := next.goOn(l.first().Add(time.Minute))
	want := map[string]v1alpha1.OutcomeResult{
		"old-0": v1alpha1.OutcomeFoundGone, "old-1": v1alpha1.OutcomeFoundGone, "old-2": v1alpha1.OutcomeAbandoned,
		"old-3": v1alpha1.OutcomeTerminating, "old-4": v1alpha1.OutcomeFoundGone, "old-5": v1alpha1.OutcomeDeleted,
	}
	for name, outcome := range outcomes(record) {
		if outcome != want[name] {
			t.Errorf("%s is %s, want %s", name, outcome, want[name])
		}
	}
	wantCounts(t, record, v1alpha1.RunCounts{Considered: 6, Matched: 6, Acted: 5, Skipped: 1})
	wantRun(t, record, v1alpha1.ReasonCompleted, "The operator stopped while the run was acting, and the run was resumed. 6 of 6 objects matched; 1 deleted, 1 being deleted, 3 found gone after the run was cut off, 1 left alone.")
	if record.Status.Phase != v1alpha1.RunCompleted || deletes(next) != 1 {
		t.Fatalf("the phase is %s, after %d deletes of the next operator", record.Status.Phase, deletes(next))
	}
	l.wantNames("old-1", "old-2", "old-3")
	held = l.object("old-3")
	held.Finalizers = nil
	must(t, l.user.Update(t.Context(), held))
}

// TestRecoveryDoesNotGoOn when somebody changed his mind meanwhile, or the next run is due.
func TestRecoveryDoesNotGoOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(l *life)
		after  time.Duration
		opts   []option
		want   string
	}{
		"edited":    {change: func(l *life) { l.change(func(c *v1alpha1.Cleaner) { c.Spec.OccurrenceThreshold = ptr.To(int32(2)) }) }, want: "the Cleaner was changed, or acting was stopped or resumed"},
		"suspended": {change: func(l *life) { l.suspend(true) }, want: "the Cleaner was suspended"},
		"late":      {change: func(*life) {}, after: day, want: "it was too late: a run is resumed only until the Cleaner's next scheduled time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, next := cutOffRun(t, 3, http.MethodDelete)
			must(t, l.user.Delete(t.Context(), l.object("old-0")))
			c.change(l)
			next.at(l.first().Add(time.Minute + c.after))
			next.waitFinished(next.now)
			record := &next.records()[0]
			wantRun(t, record, v1alpha1.ReasonFailed, "and the run was not resumed: ", c.want, "3 of 3 objects matched; 0 deleted, 1 found gone after the run was cut off, 2 left alone.")
			wantCounts(t, record, v1alpha1.RunCounts{Considered: 3, Matched: 3, Acted: 1, Skipped: 2})
			l.wantNames("old-1", "old-2")
			if deletes(next) != 0 {
				t.Fatal("the next operator went on")
			}
		})
	}
}

// TestRecoveryOfATransform: an object that holds what the run would have written was changed by it, and is not changed again.
func TestRecoveryOfATransform(t *testing.T) {
	t.Parallel()
	count := transform("function transform() obj.data.n = tostring(tonumber(obj.data.n) + 100) return {resource = obj} end")
	l, next := cutOffRun(t, 3, http.MethodPatch, count)
	done := l.object("old-0") // as if the dead operator's patch had arrived
	done.Data["n"] = "100"
	must(t, l.user.Update(t.Context(), done))
	other := l.object("old-1")
	other.Data["n"] = "7"
	must(t, l.user.Update(t.Context(), other))
	record := next.goOn(l.first().Add(time.Minute))
	wantCounts(t, record, v1alpha1.RunCounts{Considered: 3, Matched: 3, Acted: 2, Skipped: 1})
	for name, n := range map[string]string{"old-0": "100", "old-1": "7", "old-2": "102"} {
		if got := l.object(name).Data["n"]; got != n {
			t.Errorf("%s has %s, want %s", name, got, n)
		}
	}
}

// TestRecoveryKeepsWhatWasSaved: outcomes that were saved are not looked at again.
func TestRecoveryKeepsWhatWasSaved(t *testing.T) {
	t.Parallel()
	const n = inHand + 4
	b := newBench(t)
	b.configMaps(b.namespace, "old", n)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	at := newBarrier(t)
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodDelete {
			b.clock.SetTime(b.clock.Now().Add(2 * time.Second)) // outcomes are saved each second
			if len(b.requests.paths(http.MethodDelete)) > 4 {
				at.pass()
			}
		}
		return nil, nil
	})
	l.at(l.first())
	at.await(inHand)
	next := l.successor()
	next.startExecutor()
	record := next.goOn(l.first().Add(time.Hour / 2))
	wantCounts(t, record, v1alpha1.RunCounts{Considered: n, Matched: n, Acted: n})
	looked := 0
	for _, path := range next.requests.paths(http.MethodGet) {
		if strings.Contains(path, "/configmaps/old-") {
			looked++
		}
	}
	if looked >= n {
		t.Fatalf("the next operator looked at %d objects of %d, though some outcomes were saved", looked, n)
	}
	b.wantNames()
}

// TestRecoveryReportsWhatWasLeftAlone: what the run before left alone is in no intent, and is reported all the same.
func TestRecoveryReportsWhatWasLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 3, stale)
	const keeps = 30 // more than the examples of an outcome
	b.configMaps(b.namespace, "kept", keeps, stale, func(cm *corev1.ConfigMap) {
		cm.Annotations = map[string]string{v1alpha1.ProtectAnnotation: "true"}
	})
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	at := newBarrier(t) // never opened: this operator is no more
	b.holdRequests(at, http.MethodDelete, "/configmaps/old-")
	l.at(l.first())
	at.await(3)
	if record := l.records()[0]; len(record.Status.Objects) != keeps || record.Status.ObjectsOmitted != 3 {
		t.Fatalf("while the run acts, its record lists %v and omits %d", outcomes(&record), record.Status.ObjectsOmitted)
	}
	next := l.successor()
	next.startExecutor()
	ended := next.goOn(l.first().Add(time.Minute))
	wantRun(t, ended, v1alpha1.ReasonCompleted, "3 deleted, 30 left alone")
	wantCounts(t, ended, v1alpha1.RunCounts{Considered: 3 + keeps, Matched: 3 + keeps, Acted: 3, Skipped: keeps})
	for i := range keeps {
		wantOutcome(t, ended, fmt.Sprint("kept-", i), v1alpha1.OutcomeProtected, "annotated")
	}
	if got := outcomes(ended); len(got) != 3+keeps || got["old-2"] != v1alpha1.OutcomeDeleted || ended.Status.ObjectsOmitted != 0 {
		t.Errorf("the record lists %v and omits %d", got, ended.Status.ObjectsOmitted)
	}
}

// TestRecoveryWithoutTheIntent: what cannot be read is reported, and nothing is touched.
func TestRecoveryWithoutTheIntent(t *testing.T) {
	t.Parallel()
	l, next := cutOffRun(t, 3, http.MethodDelete)
	record := l.records()[0]
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: record.Name + "-" + record.Status.Intent.Attempt + "-bundle-0"}}
	must(t, l.user.Delete(t.Context(), secret))
	ended := next.goOn(l.first().Add(time.Minute))
	wantRun(t, ended, v1alpha1.ReasonFailed, "The operator stopped while the run was acting, and what it was going to touch cannot be read: ", secret.Name, "not found")
	if acted := meta.FindStatusCondition(ended.Status.Conditions, v1alpha1.ConditionActed); acted == nil || acted.Reason != v1alpha1.ReasonOutcomesUnknown {
		t.Errorf("condition Acted is %+v", acted)
	}
	if deletes(next) != 0 {
		t.Fatal("the next operator went on")
	}
	l.wantNames("old-0", "old-1", "old-2")
}

// TestOldOperatorCannotWriteAfterATakeOver: the one that was taken for gone can neither save outcomes nor end the record, whether it
// looked at the record a moment ago or has to look again.
func TestOldOperatorCannotWriteAfterATakeOver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		objects int
		held    string
		holds   int
		passes  time.Duration
	}{
		"before it saved":        {2, "/configmaps/old-", 2, 0},
		"just after it had":      {120, "/configmaps/old-11", 11, 0},
		"some time after it had": {120, "/configmaps/old-11", 11, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMaps(b.namespace, "old", c.objects)
			l := b.follow(b.cleaner(v1alpha1.ActionDelete))
			l.startExecutor()
			at := newBarrier(t)
			b.holdRequests(at, http.MethodDelete, c.held)
			l.at(l.first())
			at.await(c.holds)
			next := l.successor()
			next.startExecutor()
			record := next.goOn(l.first().Add(time.Minute))
			wantRun(t, record, v1alpha1.ReasonCompleted, fmt.Sprintf("the run was resumed. %[1]d of %[1]d objects matched; ", c.objects))
			wantCounts(t, record, v1alpha1.RunCounts{Considered: int64(c.objects), Matched: int64(c.objects), Acted: int64(c.objects)})
			before, err := journal.ReadOutcomes(t.Context(), journal.NewParts(b.user), record)
			must(t, err)
			l.clock.Step(c.passes)
			at.open()
			l.finish()
			if after := l.records()[0]; after.ResourceVersion != record.ResourceVersion {
				t.Fatalf("the old operator wrote to the record: %+v", after.Status)
			}
			known, err := journal.ReadOutcomes(t.Context(), journal.NewParts(b.user), record)
			must(t, err)
			if diff := cmp.Diff(before, known); diff != "" || len(known) != c.objects {
				t.Fatalf("the old operator wrote outcomes (-before +after):\n%s", diff)
			}
		})
	}
}
