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

// TestForResuming: what changes without the object must be judged anew, whenever the next leader comes.
func TestForResuming(t *testing.T) {
	now := time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)
	record := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{NominalTime: metav1.NewTime(now)}}
	record.Status.StartTime = ptr.To(metav1.NewTime(now))
	for want, set := range map[string]v1alpha1.ResourcePolicySet{
		"":                             {ResourceSelectors: []v1alpha1.ResourceSelector{{}}},
		"judged together with other":   {AggregatedSelection: "x"},
		"judged by its events":         {ResourceSelectors: []v1alpha1.ResourceSelector{{}, {IncludeEvents: ptr.To(true)}}},
		"events, metrics or logs must": {ResourceSelectors: []v1alpha1.ResourceSelector{{MetricQueries: []v1alpha1.MetricQuery{{}}}}},
		"metrics or logs must":         {ResourceSelectors: []v1alpha1.ResourceSelector{{LogSource: &v1alpha1.LogSource{}}}},
	} {
		cleaner := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{ResourcePolicySet: set}}
		if got := ForResuming(cleaner, record, now.Add(time.Minute)); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%+v: %q, want %q", set, got, want)
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
