// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
)

func TestLaneOf(t *testing.T) {
	took := func(d time.Duration) *v1alpha1.LastRun {
		return &v1alpha1.LastRun{Duration: &metav1.Duration{Duration: d}}
	}
	for name, c := range map[string]struct {
		status v1alpha1.CleanerStatus
		want   executor.Lane
	}{
		"has not run":            {v1alpha1.CleanerStatus{}, executor.LaneUnknown},
		"not known how long":     {v1alpha1.CleanerStatus{LastRun: &v1alpha1.LastRun{}}, executor.LaneUnknown},
		"quick":                  {v1alpha1.CleanerStatus{LastRun: took(slow - 1)}, executor.LaneQuick},
		"slow":                   {v1alpha1.CleanerStatus{LastRun: took(slow)}, executor.LaneSlow},
		"its scripts used it up": {v1alpha1.CleanerStatus{LastRun: took(time.Second), ExhaustedRuns: 1}, executor.LaneSlow},
	} {
		if got := laneOf(&v1alpha1.Cleaner{Status: c.status}); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

// TestFewAreCheckedAtOnce: who comes when all are busy does not wait.
func TestFewAreCheckedAtOnce(t *testing.T) {
	r := &CleanerReconciler{checks: semaphore.NewWeighted(1)}
	end, err := r.beginCheck()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.beginCheck(); !errors.Is(err, errNotNow) {
		t.Errorf("got %v", err)
	}
	end()
	if _, err := r.beginCheck(); err != nil {
		t.Errorf("after the end of the first: %v", err)
	}
}
