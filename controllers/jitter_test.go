// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/schedule"
)

// TestJitterDoesNotMoveTheDeadline: a delayed run may not start later than any other. What is too late counts as
// missed, and does not become a run that cannot begin.
func TestJitterDoesNotMoveTheDeadline(t *testing.T) {
	t.Parallel()
	plan, err := schedule.Parse("0 3 * * *", "")
	if err != nil {
		t.Fatal(err)
	}
	planned := plan.Next(time.Unix(1_800_000_000, 0))
	cleaner := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{StartingDeadlineSeconds: ptr.To[int64](600)}}
	cleaner.UID = "u"
	r := assessor(nil)
	r.JitterWindow = time.Hour
	jitter, limit := r.jitter(cleaner), 10*time.Minute
	if jitter < time.Second || jitter > limit/2 {
		t.Fatalf("the jitter is %s", jitter)
	}
	for name, test := range map[string]struct {
		late        time.Duration
		due, missed bool
	}{
		"before its time":          {late: jitter - time.Millisecond},
		"in time":                  {late: jitter, due: true},
		"at the last moment":       {late: limit, due: true},
		"too late":                 {late: limit + time.Millisecond, missed: true},
		"too late but for a delay": {late: limit + jitter, missed: true},
	} {
		now := planned.Add(test.late)
		r.Clock = clocktesting.NewFakePassiveClock(now)
		cleaner.Status = v1alpha1.CleanerStatus{NextScheduleTime: ptr.To(metav1.NewTime(planned))}
		found := &round{memory: &memory{}}
		due := r.tick(cleaner, plan, found, now, false)
		if due.IsZero() == test.due || (found.missed != "") != test.missed {
			t.Errorf("%s: it is due at %s, and missed: %q", name, due, found.missed)
		}
	}
}
