// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/controllers"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

const (
	year    = 365 * 24 * time.Hour
	yearOff = "the operator's clock is 365 days ahead of the API server's: ages cannot be judged; set the node's clock"
)

// skewedBench is one whose clock is compared with the API server's, as cmd/manager does it.
func skewedBench(t *testing.T) *bench {
	t.Helper()
	skew := &run.ClockSkew{}
	b := newBench(t, func(s *settings) {
		s.config = rest.CopyConfig(s.config)
		s.config.Wrap(skew.Wrap)
	})
	skew.Clock = b.clock
	b.runner.CheckClock, b.reconciler.Journal.CheckClock = skew.Check, skew.Check
	return b
}

func aged(s *v1alpha1.ResourceSelector) { s.MinAgeSeconds = ptr.To[int64](720 * 3600) }

// TestWrongClockTouchesNothing: a new object is none of more than 720 hours because the node's clock is a year ahead.
func TestWrongClockTouchesNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		action v1alpha1.Action
		reason string
		want   string
	}{
		{v1alpha1.ActionDelete, v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the view was not complete: " + yearOff},
		{v1alpha1.ActionTransform, v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the view was not complete: " + yearOff},
		{v1alpha1.ActionScan, v1alpha1.ReasonCompleted, "1 of 1 object matched. Beware: " + yearOff + "."},
	} {
		t.Run(string(test.action), func(t *testing.T) {
			t.Parallel()
			b := skewedBench(t)
			before := b.configMap("new")
			c := b.cleaner(test.action, edited(aged), func(c *v1alpha1.Cleaner) {
				if test.action == v1alpha1.ActionTransform {
					transform(touch)(c)
				}
			})
			b.clock.SetTime(time.Now().Add(year))
			wantRun(t, b.run(c), test.reason, test.want)
			if now := b.object("new"); now.ResourceVersion != before.ResourceVersion {
				t.Fatal("the object was changed")
			}
			b.clock.SetTime(time.Now()) // the node's clock is set
			wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "0 of 0 objects matched")
		})
	}
}

// TestClockThatIsSetDuringTheRunTouchesNothing: the objects were judged by the wrong clock, whatever it says afterwards; and a
// clock that goes wrong while objects are read is noticed too.
func TestClockThatIsSetDuringTheRunTouchesNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, after time.Duration }{
		"set right": {before: year},
		"set wrong": {after: year},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := skewedBench(t)
			b.configMap("new")
			c := b.cleaner(v1alpha1.ActionDelete)
			b.clock.SetTime(time.Now().Add(test.before))
			b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "/configmaps") {
					b.clock.FakePassiveClock.SetTime(time.Now().Add(test.after)) // which no timer goes by
				}
				return nil, nil
			})
			wantRun(t, b.run(c), v1alpha1.ReasonViewIncomplete, "365 days ahead of the API server's")
			b.wantNames("new")
		})
	}
}

// TestWrongClockDropsNoCopies, for all their time would be over. It sweeps the records of the whole cluster, so it does not run
// beside others.
func TestWrongClockDropsNoCopies(t *testing.T) {
	b := skewedBench(t)
	b.configMap("old")
	record := b.run(b.cleaner(v1alpha1.ActionDelete))
	b.clock.SetTime(time.Now().Add(year))
	s := &controllers.Sweeper{Journal: b.reconciler.Journal, Metrics: b.runner.Metrics, MaxBytes: 1, Close: b.runner.Close, Tell: func(*v1alpha1.CleanerRun) {}, Busy: func(string) bool { return true }}
	if err := s.Sweep(t.Context()); err == nil || err.Error() != "no copies are dropped: "+yearOff {
		t.Fatalf("the sweep says: %v", err)
	}
	if kept := b.stored(record); kept.Status.Copies.Dropped != "" || len(b.copies(kept)) != 1 {
		t.Fatalf("the copies were dropped: %q", kept.Status.Copies.Dropped)
	}
}

// TestRunThatWasCutOffStopsByAWrongClock: its operator judged by its own clock, but how late it is now nobody knows.
func TestRunThatWasCutOffStopsByAWrongClock(t *testing.T) {
	t.Parallel()
	l, next := cutOffRun(t, 2, http.MethodDelete)
	next.runner.CheckClock = func() error { return errors.New(yearOff) }
	record := next.goOn(l.first().Add(time.Minute))
	wantRun(t, record, v1alpha1.ReasonFailed, "the run was not gone on with: "+yearOff, "2 of 2 objects matched; 0 deleted, 2 left alone.")
	l.wantNames("old-0", "old-1")
}
