// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestStaleRequestsAreDeclined: whoever installs the operator does not expect that it answers a request of last week.
func TestStaleRequestsAreDeclined(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		age  time.Duration
		runs bool
	}{
		"it is from before the operator": {16 * time.Minute, false},
		"an operator took over":          {14 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			// Suspended, so that no tick is due, whatever the time of day.
			l := b.follow(b.cleaner(v1alpha1.ActionScan, func(c *v1alpha1.Cleaner) { c.Spec.Suspend = new(true) }))
			now := l.now.CreationTimestamp.Add(time.Hour)
			request := now.Add(-c.age).UTC().Format(time.RFC3339Nano)
			l.ask(request)
			l.at(now)
			l.wantHandled(request)
			if active := l.now.Status.ActiveRun; (active != nil) != c.runs {
				t.Fatalf("status.activeRun is %+v", active)
			}
			if c.runs {
				return
			}
			wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed)
			want := "The run that was asked for did not begin: it was requested at " + now.Add(-c.age).UTC().Format(time.RFC3339) +
				", more than 15 minutes before the operator started. Request it again with kubectl cleaner run"
			if got := meta.FindStatusCondition(l.now.Status.Conditions, v1alpha1.ConditionRunSucceeded); !strings.HasPrefix(got.Message, want) {
				t.Errorf("it says %q, want %q", got.Message, want)
			}
			// A request that waits while this operator is there does not get stale.
			l.clock.SetTime(now.Add(40 * time.Minute))
			l.ask(now.Add(time.Minute).UTC().Format(time.RFC3339Nano))
			l.step()
			l.wantActive(now.Add(40 * time.Minute))
		})
	}
}
