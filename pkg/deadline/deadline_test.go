// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package deadline

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func TestOf(t *testing.T) {
	for name, test := range map[string]struct {
		seconds *int64
		want    time.Duration
	}{
		"unset":    {nil, Max},
		"set":      {ptr.To(int64(90)), 90 * time.Second},
		"the most": {ptr.To(int64(3600)), Max},
		"more than the CustomResourceDefinition allows": {ptr.To(int64(math.MaxInt64)), Max},
	} {
		t.Run(name, func(t *testing.T) {
			cleaner := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{ActiveDeadlineSeconds: test.seconds}}
			if got := Of(cleaner); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestForResuming: until the next run is due, and for an hour, a run is resumed.
func TestForResuming(t *testing.T) {
	now := time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)
	record := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{NominalTime: metav1.NewTime(now)}}
	record.Status.StartTime = ptr.To(metav1.NewTime(now))
	for _, test := range []struct {
		next, after time.Duration
		want        string
	}{
		{24 * time.Hour, time.Hour - time.Second, ""},
		{24 * time.Hour, time.Hour, "(here: until 2026-01-01T04:00:00Z)"},
		{time.Minute, time.Minute - time.Second, ""},
		{time.Minute, time.Minute, "(here: until 2026-01-01T03:01:00Z)"},
	} {
		cleaner := &v1alpha1.Cleaner{}
		cleaner.Status.NextScheduleTime = ptr.To(metav1.NewTime(now.Add(test.next)))
		got := ForResuming(cleaner, record, now.Add(test.after))
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s after, with the next run after %s: %q, want %q", test.after, test.next, got, test.want)
		}
	}
}

// TestLimitRun: a run's time counts from its start, whoever carries it out.
func TestLimitRun(t *testing.T) {
	start := time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)
	clk := clocktesting.NewFakeClock(start)
	cleaner := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{ActiveDeadlineSeconds: ptr.To[int64](60)}}
	record := &v1alpha1.CleanerRun{}
	record.Status.StartTime = ptr.To(metav1.NewTime(start.Add(-40 * time.Second)))
	ctx, cancel := LimitRun(t.Context(), clk, cleaner, record)
	defer cancel()
	clk.Step(19 * time.Second)
	if ctx.Err() != nil {
		t.Fatalf("stopped after 59 of 60 s: %v", context.Cause(ctx))
	}
	clk.Step(time.Second)
	var late *Error
	if !errors.As(context.Cause(ctx), &late) || late.Limit != time.Minute {
		t.Errorf("stopped by %v", context.Cause(ctx))
	}
	if over, cancel := LimitRun(t.Context(), clk, cleaner, record); over.Err() == nil {
		cancel()
		t.Error("a run whose time is over goes on")
	} else {
		cancel()
	}
}
