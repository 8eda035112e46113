// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/controllers"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// sweep looks through the records of all runs once. Other tests' runs have their own API server's time: the limits are theirs too.
func (b *bench) sweep(maxBytes int64) {
	b.t.Helper()
	s := &controllers.Sweeper{
		Journal: b.reconciler.Journal, Metrics: b.runner.Metrics, MaxBytes: maxBytes, Close: b.runner.Close, Tell: func(*v1alpha1.CleanerRun) {},
		Busy: func(name string) bool { _, busy := b.executor.Active(name); return busy },
	}
	must(b.t, s.Sweep(b.t.Context()))
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
	if dropped := b.stored(run).Status.Copies.Dropped; dropped != "they were kept until "+run.Status.Copies.ExpirationTime.UTC().Format(time.RFC3339) {
		t.Fatalf("the record says %q", dropped)
	}
	for _, part := range b.parts(run) {
		if part.Labels[v1alpha1.PartLabel] == "copies" {
			t.Fatalf("%s is still there", part.Name)
		}
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
	wantRun(t, closed, v1alpha1.ReasonFailed, "the run was not gone on with: its Cleaner was deleted", "2 of 2 objects matched; 0 deleted, 1 found gone after the run was cut off, 1 left alone.")
	l.wantNames("old-1")
}
