// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// loseLease makes every write of the operator fail from the n-th of the method and path on, as the manager's fence does. The
// number of writes that were tried after that is counted.
func (b *bench) loseLease(n int, method, part string) *atomic.Int64 {
	var seen, refused atomic.Int64
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == method && strings.Contains(r.URL.Path, part) {
			seen.Add(1)
		}
		if r.Method == http.MethodGet || seen.Load() < int64(n) {
			return nil, nil
		}
		refused.Add(1)
		return nil, fmt.Errorf("not the leader: %w", journal.ErrTaken)
	})
	return &refused
}

// TestLostLease: an operator that lost its lease says nothing of the run, and the next one carries it out, or brings it to its end.
func TestLostLease(t *testing.T) {
	t.Parallel()
	const objects = 60
	for name, c := range map[string]struct {
		n            int
		method, part string
		phase        v1alpha1.RunPhase
		begun        bool
	}{
		"before the record":  {1, http.MethodPost, "/cleanerruns", "", false},
		"before the copies":  {1, http.MethodPost, "/secrets", "", true},
		"before it acts":     {1, http.MethodPut, "/cleanerruns", "", true},
		"while it acts":      {5, http.MethodDelete, "/configmaps/old-", v1alpha1.RunExecuting, true},
		"before its outcome": {1, http.MethodPut, "-bundle-0", v1alpha1.RunExecuting, true},
		"before its end":     {2, http.MethodPut, "/cleanerruns", v1alpha1.RunExecuting, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMaps(b.namespace, "old", objects)
			l := b.follow(b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) {
				c.Spec.Notifications = []v1alpha1.Notification{{Name: "report", Type: v1alpha1.NotificationCleanerReport}}
			}))
			l.step()
			refused := b.loseLease(c.n, c.method, c.part)
			l.startExecutor()
			l.at(l.first())
			l.waitFinished(l.now) // it does not hold on
			if n := refused.Load(); n < 1 || n > inHand+4 {
				t.Fatalf("%d writes were tried after the lease was lost", n)
			}
			if records := l.records(); c.begun != (len(records) == 1) || (c.begun && records[0].Status.Phase != c.phase) {
				t.Fatalf("the records are %+v", records)
			}
			var report v1alpha1.Report
			if err := l.user.Get(t.Context(), client.ObjectKey{Name: l.now.Name}, &report); !apierrors.IsNotFound(err) {
				t.Fatalf("the run got: %v", err)
			}
			if _, ok := l.executor.Result(l.now.Name); !ok {
				t.Fatal("the attempt has not ended here")
			}

			next := l.successor()
			next.startExecutor()
			record := next.goOn(l.first().Add(time.Minute))
			wantRun(t, record, v1alpha1.ReasonCompleted, "60 of 60 objects matched; ", " deleted")
			wantCounts(t, record, v1alpha1.RunCounts{Considered: 60, Matched: 60, Acted: 60})
			next.wantRecords(l.first())
			b.wantNames()
			must(t, l.user.Get(t.Context(), client.ObjectKey{Name: l.now.Name}, &report))
			if got := len(report.Spec.ResourceInfo); got != objects {
				t.Fatalf("the Report lists %d objects", got)
			}
		})
	}
}

// TestLostLeaseWhileRecovering: the same of the one that took the run over.
func TestLostLeaseWhileRecovering(t *testing.T) {
	t.Parallel()
	l, next := cutOffRun(t, 40, http.MethodDelete)
	refused := next.loseLease(5, http.MethodDelete, "/configmaps/old-")
	next.at(l.first().Add(time.Minute))
	next.waitFinished(next.now)
	if n := refused.Load(); n < 1 || n > inHand+4 {
		t.Fatalf("%d writes were tried after the lease was lost", n)
	}
	if record := next.records()[0]; record.Status.Phase != v1alpha1.RunExecuting || record.Status.Recoveries != 1 {
		t.Fatalf("the record says %s after %d recoveries", record.Status.Phase, record.Status.Recoveries)
	}
	third := next.successor()
	third.startExecutor()
	record := third.goOn(l.first().Add(time.Minute))
	wantRun(t, record, v1alpha1.ReasonCompleted, "40 of 40 objects matched; ", " deleted") // some are found gone: their outcomes could not be saved
	wantCounts(t, record, v1alpha1.RunCounts{Considered: 40, Matched: 40, Acted: 40})
	l.wantNames()
}

// TestLostLeaseWhileClosing: what another operator had planned is not carried out by one that could not write that it is to be closed.
func TestLostLeaseWhileClosing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 3)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.step()
	b.loseLease(1, http.MethodPost, "/secrets")
	l.startExecutor()
	l.at(l.first())
	l.waitFinished(l.now)
	l.change(func(c *v1alpha1.Cleaner) { c.Spec.OccurrenceThreshold = ptr.To(int32(2)) })

	next := l.successor()
	var refused atomic.Bool
	next.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/cleanerruns/") && refused.CompareAndSwap(false, true) {
			return nil, fmt.Errorf("not the leader: %w", journal.ErrTaken)
		}
		return nil, nil
	})
	next.startExecutor()
	next.at(l.first().Add(time.Minute))
	next.waitFinished(next.now)
	if !refused.Load() || deletes(next) != 0 {
		t.Fatalf("refused: %v, and there were %d deletes", refused.Load(), deletes(next))
	}
	next.step()
	next.at(l.first().Add(2 * time.Minute)) // it is not tried again at once
	next.finish()
	record := next.records()[0]
	wantRun(t, &record, v1alpha1.ReasonFailed, "Nothing was touched. The run had to start again, but meanwhile the Cleaner was changed, or acting was stopped or resumed")
	b.wantNames("old-0", "old-1", "old-2")
}
