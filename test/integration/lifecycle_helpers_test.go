// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// patience bounds every wait for something that must happen.
const patience = 3 * time.Minute

// life follows one Cleaner through its reconciles.
type life struct {
	*bench
	// now is the Cleaner after the last step; again is after how long that step wants to be repeated.
	now    *v1alpha1.Cleaner
	again  time.Duration
	events *recorder
}

// follow begins with a Cleaner that was just created. Nothing runs before the executor is started.
func (b *bench) follow(c *v1alpha1.Cleaner) *life {
	l := &life{bench: b, now: c, events: &recorder{}}
	b.reconciler.Events = l.events
	return l
}

// successor is the operator's next process, which knows nothing but what the cluster holds.
func (l *life) successor(opts ...option) *life {
	l.t.Helper()
	b := newBench(l.t, opts...)
	b.namespace = l.namespace
	b.clock.SetTime(l.clock.Now())
	return b.follow(l.get(l.now.Name))
}

// step reconciles once.
func (l *life) step() {
	l.t.Helper()
	result, err := l.reconciler.Reconcile(l.t.Context(), request(l.now.Name))
	must(l.t, err)
	l.again = result.RequeueAfter
	l.now = l.get(l.now.Name)
}

// at sets the clock and reconciles.
func (l *life) at(t time.Time) {
	l.t.Helper()
	l.clock.SetTime(t)
	l.step()
}

// change edits the Cleaner as a user does.
func (l *life) change(change func(*v1alpha1.Cleaner)) {
	l.t.Helper()
	l.now = l.get(l.now.Name)
	before := l.now.DeepCopy()
	change(l.now)
	must(l.t, l.user.Patch(l.t.Context(), l.now, client.MergeFrom(before)))
}

func (l *life) suspend(suspend bool) {
	l.t.Helper()
	l.change(func(c *v1alpha1.Cleaner) { c.Spec.Suspend = &suspend })
}

// ask asks for a run now.
func (l *life) ask(value string) {
	l.t.Helper()
	l.change(func(c *v1alpha1.Cleaner) {
		c.Annotations = map[string]string{v1alpha1.RunRequestedAtAnnotation: value}
	})
}

// finish waits for the end of the run and folds it in.
func (l *life) finish() {
	l.t.Helper()
	l.waitFinished(l.now)
	l.step()
}

// first is the first tick of the schedule "0 3 * * *" after the Cleaner's creation.
func (l *life) first() time.Time {
	created := l.now.CreationTimestamp.UTC()
	tick := created.Truncate(24 * time.Hour).Add(3 * time.Hour)
	if !tick.After(created) {
		tick = tick.Add(24 * time.Hour)
	}
	return tick
}

// records are the Cleaner's CleanerRuns, oldest first.
func (l *life) records() []v1alpha1.CleanerRun {
	l.t.Helper()
	var list v1alpha1.CleanerRunList
	must(l.t, l.user.List(l.t.Context(), &list, client.MatchingLabels{v1alpha1.CleanerLabel: string(l.now.UID)}))
	slices.SortFunc(list.Items, func(a, b v1alpha1.CleanerRun) int { return a.Spec.NominalTime.Compare(b.Spec.NominalTime.Time) })
	return list.Items
}

// wantRecords fails the test unless the Cleaner has just the runs of these nominal times.
func (l *life) wantRecords(nominal ...time.Time) {
	l.t.Helper()
	var got, want []string
	for _, r := range l.records() {
		got = append(got, r.Spec.NominalTime.UTC().Format(time.RFC3339))
	}
	for _, t := range nominal {
		want = append(want, t.UTC().Format(time.RFC3339))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.t.Fatalf("the runs' nominal times (-want +got):\n%s", diff)
	}
}

// wantNext compares status.nextScheduleTime; a zero time wants none.
func (l *life) wantNext(want time.Time) {
	l.t.Helper()
	var got time.Time
	if next := l.now.Status.NextScheduleTime; next != nil {
		got = next.Time
	}
	if !got.Equal(want) {
		l.t.Fatalf("status.nextScheduleTime is %s, want %s", got.UTC(), want.UTC())
	}
}

// wantActive compares the nominal time of status.activeRun; a zero time wants none. Nothing else was submitted.
func (l *life) wantActive(want time.Time) {
	l.t.Helper()
	var got time.Time
	if active := l.now.Status.ActiveRun; active != nil {
		got = active.NominalTime.Time
	}
	if !got.Equal(want) {
		l.t.Fatalf("the active run is of %s, want %s", got.UTC(), want.UTC())
	}
	request, ok := l.executor.Active(l.now.Name)
	if ok && (want.IsZero() || !request.Nominal.Equal(want)) { // it may have ended, and be tried again later
		l.t.Fatalf("the executor has %+v (%v), want %s", request, ok, want)
	}
}

// wantRequeue compares after how long the last step wants to be repeated.
func (l *life) wantRequeue(want time.Duration) {
	l.t.Helper()
	if l.again != want {
		l.t.Fatalf("RequeueAfter is %s, want %s", l.again, want)
	}
}

// wantEvents fails the test unless just these Events came since the last look, each with the reason and a note that contains
// the text.
func (l *life) wantEvents(reasonsAndTexts ...string) {
	l.t.Helper()
	events := l.events.take()
	if len(events)*2 != len(reasonsAndTexts) {
		l.t.Fatalf("%d Events came, want %d: %+v", len(events), len(reasonsAndTexts)/2, events)
	}
	for i, e := range events {
		if reason, text := reasonsAndTexts[2*i], reasonsAndTexts[2*i+1]; e.reason != reason || !strings.Contains(e.note, text) {
			l.t.Fatalf("Event %d is %+v, want %s with %q", i, e, reason, text)
		}
	}
}
