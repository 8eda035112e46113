// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/transport"
)

const (
	year    = 365 * 24 * time.Hour
	yearOff = "the operator's clock is 365 days ahead of the API server's: ages cannot be judged; set the node's clock"
)

// skewedBench is one whose clock is compared with the API server's, as cmd/manager does it.
func skewedBench(t *testing.T) *bench {
	t.Helper()
	skew := &transport.ClockSkew{}
	b := newBench(t, func(s *settings) {
		s.config = rest.CopyConfig(s.config)
		s.config.Wrap(skew.Wrap)
	})
	skew.Clock = b.clock
	b.runner.Read.CheckClock, b.reconciler.CheckClock, b.reconciler.Journal.CheckClock = skew.Check, skew.Check, skew.Check
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
		{v1alpha1.ActionDelete, v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the run could not read or judge everything: " + yearOff},
		{v1alpha1.ActionTransform, v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the run could not read or judge everything: " + yearOff},
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
	if err := b.sweeper(1).Sweep(t.Context()); err == nil || err.Error() != "no copies are dropped: "+yearOff {
		t.Fatalf("the sweep says: %v", err)
	}
	if kept := b.stored(record); kept.Status.Copies.Dropped != "" || len(b.copies(kept)) != 1 {
		t.Fatalf("the copies were dropped: %q", kept.Status.Copies.Dropped)
	}
}

// TestClockThatIsWrongForAMomentMovesNoSchedule: a node's clock that is 8 hours off for one reconcile does not stop the Cleaner for 8
// hours, nor make up for runs that were never due.
func TestClockThatIsWrongForAMomentMovesNoSchedule(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]time.Duration{"ahead": 8 * time.Hour, "behind": -8 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := skewedBench(t)
			b.reconciler.Client = cached{b.live, b.user} // as in the manager: who reads a Cleaner asks no API server
			l := b.follow(b.cleaner(v1alpha1.ActionScan, scheduled("@every 1h")))
			now := time.Now()
			l.at(now)
			next := l.now.CreationTimestamp.Add(time.Hour)
			l.wantNext(next)
			l.at(now.Add(off))
			l.wantNext(next)
			l.wantActive(time.Time{})
			l.wantRequeue(15 * time.Second)
			wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled, "no scheduled run starts, because the clock of the operator's node differs from that of the API server")
			l.at(now.Add(time.Second))
			l.wantNext(next)
			wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled, "It runs every 1h0m0s.")
			if l.again < 50*time.Minute && l.again != 10*time.Minute {
				t.Fatalf("it is looked at again after %s", l.again)
			}
		})
	}
}

// cached reads Cleaners without the operator's client, and does all else with it.
type cached struct {
	client.Client
	cache client.Reader
}

func (c cached) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return c.cache.Get(ctx, key, o, opts...)
}

// TestScheduleOfAWrongClockIsPlannedAnew: what an operator stored whose clock was ahead does not stop the Cleaner.
func TestScheduleOfAWrongClockIsPlannedAnew(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	l.step()
	l.wantNext(l.first())
	setStatus(b, l, func(c *v1alpha1.Cleaner) { c.Status.NextScheduleTime = ptr.To(metav1.NewTime(l.first().Add(3 * day))) })
	l.step()
	l.wantNext(l.first())
}

// TestRunThatWasCutOffStopsByAWrongClock: its operator judged by its own clock, but how late it is now nobody knows.
func TestRunThatWasCutOffStopsByAWrongClock(t *testing.T) {
	t.Parallel()
	l, next := cutOffRun(t, 2, http.MethodDelete)
	next.runner.Read.CheckClock = func() error { return errors.New(yearOff) }
	record := next.goOn(l.first().Add(time.Minute))
	wantRun(t, record, v1alpha1.ReasonFailed, "the run was not resumed: "+yearOff, "2 of 2 objects matched; 0 deleted, 2 left alone.")
	l.wantNames("old-0", "old-1")
}
