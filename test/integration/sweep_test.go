// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/controllers"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// sweeper is as the manager makes it, except that a run is busy only in the bench's own executor and nothing is notified.
func (b *bench) sweeper(maxBytes int64) *controllers.Sweeper {
	return &controllers.Sweeper{
		Journal: b.reconciler.Journal, Metrics: b.runner.Record.Metrics, CheckSchema: b.runner.Begin.CheckSchema, Clock: b.clock,
		MaxBytes: maxBytes, Close: b.runner.Close, Notify: func(*v1alpha1.CleanerRun) {},
		Busy: func(name string) bool { _, busy := b.executor.Active(name); return busy },
	}
}

// sweep looks through the records of all runs once. Other tests' runs have their own API server's time: the limits are theirs too.
func (b *bench) sweep(maxBytes int64) {
	b.t.Helper()
	must(b.t, b.sweeper(maxBytes).Sweep(b.t.Context()))
}

func (b *bench) gone(run *v1alpha1.CleanerRun) bool {
	b.t.Helper()
	err := b.user.Get(b.t.Context(), client.ObjectKeyFromObject(run), &v1alpha1.CleanerRun{})
	must(b.t, client.IgnoreNotFound(err))
	return apierrors.IsNotFound(err)
}

// TestCopiesOutliveTheirCleaner until their time is over; then the record goes too. It sweeps the records of the whole cluster, so
// it does not run beside others.
func TestCopiesOutliveTheirCleaner(t *testing.T) {
	b := newBench(t)
	b.configMap("old")
	c := b.cleaner(v1alpha1.ActionDelete, rollback(v1alpha1.Rollback{RetentionSeconds: ptr.To(int64(3600))}))
	run := b.run(c)
	must(t, b.user.Delete(t.Context(), c))
	b.clock.SetTime(b.clock.Now().Add(59 * time.Minute))
	b.sweep(1 << 40)
	if len(b.copies(b.stored(run))) != 1 {
		t.Fatal("the copy went before its time")
	}
	b.clock.SetTime(b.clock.Now().Add(2 * time.Minute))
	b.sweep(1 << 40)
	if dropped := b.stored(run).Status.Copies.Dropped; dropped != "their retention time ended at "+run.Status.Copies.ExpirationTime.UTC().Format(time.RFC3339) {
		t.Fatalf("the record says %q", dropped)
	}
	if parts := b.parts(run); len(parts) > 0 {
		t.Fatalf("%s is still there", parts[0].Name)
	}
	b.sweep(1 << 40)
	if !b.gone(run) {
		t.Fatal("the record of a Cleaner that is gone stays for ever")
	}
}

// TestOldestCopiesGoFirst when all together take too much.
func TestOldestCopiesGoFirst(t *testing.T) {
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionDelete)
	var runs []*v1alpha1.CleanerRun
	for range 3 {
		b.configMap("old")
		runs = append(runs, b.run(c))
	}
	var all v1alpha1.CleanerRunList
	must(t, b.user.List(t.Context(), &all))
	var younger int64 // of other tests
	for _, run := range all.Items {
		if run.Status.Copies != nil && run.Status.Copies.Dropped == "" && run.Spec.NominalTime.After(runs[0].Spec.NominalTime.Time) {
			younger += run.Status.Copies.Bytes
		}
	}
	b.sweep(younger)
	const want = "(--max-copies-bytes)"
	if got := b.stored(runs[0]).Status.Copies.Dropped; len(got) < len(want) || got[len(got)-len(want):] != want {
		t.Fatalf("the oldest says %q", got)
	}
	if b.stored(runs[2]).Status.Copies.Dropped != "" || len(b.copies(b.stored(runs[2]))) != 1 {
		t.Fatal("the youngest went too")
	}
	must(t, b.reconciler.Journal.Prune(t.Context(), b.get(c.Name), &journal.History{}))
}

// TestHistoryLimitsSpareCopies: a run that holds copies is not deleted for being old.
func TestHistoryLimitsSpareCopies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) { c.Spec.SuccessfulRunsHistoryLimit = ptr.To(int32(0)) })
	b.configMap("old")
	holds := b.run(c)
	empty := b.run(c)
	must(t, b.reconciler.Journal.Prune(t.Context(), c, &journal.History{}))
	if b.gone(holds) || !b.gone(empty) {
		t.Fatalf("the run that holds copies is gone: %t; the one that holds none: %t", b.gone(holds), b.gone(empty))
	}
}

// TestUnfinishedRunOfACleanerThatIsGoneIsClosed: what became of its objects is found out, and nothing more is touched.
func TestUnfinishedRunOfACleanerThatIsGoneIsClosed(t *testing.T) {
	l, next := cutOffRun(t, 2, http.MethodDelete)
	must(t, l.user.Delete(t.Context(), l.object("old-0")))
	record := l.records()[0]
	next.sweep(1 << 40) // its Cleaner waits for it
	if next.stored(&record).Status.Phase != v1alpha1.RunExecuting {
		t.Fatal("a run that is going to be taken up was closed")
	}
	must(t, l.user.Delete(t.Context(), l.now))
	next.sweep(1 << 40)
	closed := next.stored(&record)
	wantRun(t, closed, v1alpha1.ReasonFailed, "the run was not resumed: its Cleaner was deleted", "2 of 2 objects matched; 0 deleted, 1 found gone after the run was cut off, 1 left alone.")
	l.wantNames("old-1")
}

// ownBook gives the operator a namespace of its own for what runs write down, so that other tests' runs are not counted, and a limit.
func (b *bench) ownBook(namespace string, perCleaner, all int) (dropped *[]string) {
	dropped = &[]string{}
	book := journal.New(b.live, namespace, b.clock)
	book.Places.MaxKeepersPerCleaner, book.Places.MaxKeepers = perCleaner, all
	book.Dropped = func(run *v1alpha1.CleanerRun, why string) {
		*dropped = append(*dropped, run.Name)
		b.reconciler.CopiesDropped(run, why)
	}
	b.runner.Record.Journal, b.reconciler.Journal = book, book
	return dropped
}

// TestOldestCopiesMakeRoom before another run writes some, where a Cleaner, or all of them, have as many runs that keep copies as may.
// Whoever was the operator before.
func TestOldestCopiesMakeRoom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		perCleaner, all, cleaners int
		why                       string
	}{
		"of one Cleaner": {3, 100, 1, "3 newer runs of the Cleaner keep copies, which is the limit"},
		"of all":         {100, 3, 2, "3 newer runs of all Cleaners keep copies, which is the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			namespace := b.newNamespace(nil)
			var cleaners []*v1alpha1.Cleaner
			for range c.cleaners {
				cleaners = append(cleaners, b.cleaner(v1alpha1.ActionDelete))
			}
			b.ownBook(namespace, c.perCleaner, c.all)
			var runs []*v1alpha1.CleanerRun
			run := func(n int) {
				for range n {
					b.configMap("old")
					runs = append(runs, b.run(cleaners[len(runs)%len(cleaners)]))
				}
			}
			b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/namespaces/"+namespace+"/secrets") {
					var kept corev1.SecretList
					must(t, b.user.List(t.Context(), &kept, client.InNamespace(namespace)))
					if len(kept.Items) > 2 {
						t.Errorf("a run writes its copies beside those of %d others", len(kept.Items))
					}
				}
				return nil, nil
			})
			run(2)
			dropped := b.ownBook(namespace, c.perCleaner, c.all) // the next operator
			run(3)
			for i, r := range runs {
				kept := b.stored(r).Status.Copies
				if drops := i < 2; drops != (kept.Dropped != "") || drops && kept.Dropped != c.why {
					t.Errorf("run %d of %d says of its copies %+v", i+1, len(runs), kept)
				}
			}
			if diff := cmp.Diff([]string{runs[0].Name, runs[1].Name}, *dropped); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
			var secrets corev1.SecretList
			must(t, b.user.List(t.Context(), &secrets, client.InNamespace(namespace)))
			if len(secrets.Items) != 3 {
				t.Errorf("%d Secrets are left, want one for each of 3 runs", len(secrets.Items))
			}
			want := "Warning CopiesDropped The copies of run " + runs[0].Name + " were dropped before their time: " + c.why + ". What the run touched cannot be restored any more."
			select {
			case event := <-b.events.Events:
				if event != want {
					t.Errorf("the Event says %q, want %q", event, want)
				}
			default:
				t.Error("there is no Event")
			}
			if lists := b.requests.count(http.MethodGet, "/namespaces/"+namespace+"/secrets"); lists > 2+2 { // by each operator, and for each drop
				t.Errorf("Secrets were listed %d times", lists)
			}
		})
	}
}

// TestRecordsAreNotListedAfterEachRun, also those that hold copies: the operator knows of them. What lost its copies goes by the history
// limits.
func TestRecordsAreNotListedAfterEachRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ownBook(b.newNamespace(nil), 3, 100)
	c := b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) { c.Spec.SuccessfulRunsHistoryLimit = ptr.To(int32(1)) })
	var history journal.History
	var runs []*v1alpha1.CleanerRun
	for range 7 {
		b.configMap("old")
		runs = append(runs, b.run(c))
		history.Add(runs[len(runs)-1])
		must(t, b.reconciler.Journal.Prune(t.Context(), c, &history))
	}
	for i, r := range runs { // three keep copies, and one of the others is left
		if gone := i < 3; b.gone(r) != gone {
			t.Errorf("run %d of %d is gone: %t", i+1, len(runs), !gone)
		}
	}
	if lists := b.requests.count(http.MethodGet, "/cleanerruns"); lists != 1 {
		t.Errorf("the records were listed %d times", lists)
	}
}

// TestCopiesOfARunThatTouchedNothing go at its end: a Cleaner that fails in each run displaces no copies that somebody needs.
func TestCopiesOfARunThatTouchedNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("one")
	b.configMap("two")
	c := b.cleaner(v1alpha1.ActionDelete)
	refuse := func(names string) {
		b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/configmaps/"+names) {
				return answer(r, http.StatusForbidden, []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no right","code":403}`)), nil
			}
			return nil, nil
		})
	}
	refuse("")
	none := b.run(c)
	wantRun(t, none, v1alpha1.ReasonForbidden)
	if copies := b.stored(none).Status.Copies; copies.Dropped != "the run deleted and changed nothing" || copies.Objects != 0 || len(b.parts(none)) > 0 {
		t.Fatalf("the run that touched nothing has %+v and %d Secrets", copies, len(b.parts(none)))
	}
	refuse("one")
	one := b.stored(b.run(c))
	if copies := one.Status.Copies; copies.Dropped != "" || copies.Objects != 2 || len(b.copies(one)) != 2 {
		t.Fatalf("the run that deleted one object has %+v", copies)
	}
}

// TestOldestCopiesMakeRoomByTheirSize, before another run writes some: a sweep may come too late. It sweeps the records of the whole
// cluster, so it does not run beside others.
func TestOldestCopiesMakeRoomByTheirSize(t *testing.T) {
	b := newBench(t)
	namespace := b.newNamespace(nil)
	dropped := b.ownBook(namespace, 100, 100)
	c := b.cleaner(v1alpha1.ActionDelete)
	run := func() *v1alpha1.CleanerRun {
		b.configMap("old")
		return b.stored(b.run(c))
	}
	first := run()
	b.runner.Record.Journal.Places.MaxBytes = first.Status.Copies.Bytes * 3 / 2 // for one run's
	second := run()
	if len(*dropped) > 0 {
		t.Fatalf("dropped: %v", *dropped)
	}
	third := run()
	if diff := cmp.Diff([]string{first.Name}, *dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	dropped = b.ownBook(namespace, 100, 100) // the next operator
	b.runner.Record.Journal.Places.MaxBytes = 1 << 30
	b.sweep(1 << 40) // which reads how much there is
	b.runner.Record.Journal.Places.MaxBytes = first.Status.Copies.Bytes * 3 / 2
	run()
	if diff := cmp.Diff([]string{second.Name}, *dropped); diff != "" {
		t.Errorf("dropped by the next operator (-want +got):\n%s", diff)
	}
	if copies := b.stored(third).Status.Copies; copies.Dropped != "" || b.stored(first).Status.Copies.Dropped == "" {
		t.Errorf("the third says %q", copies.Dropped)
	}
}
