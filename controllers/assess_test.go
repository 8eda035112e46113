// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// assessor is a reconciler that can say whether a Cleaner can run. The check of the Cleaner ends in err.
func assessor(err error) *CleanerReconciler {
	return &CleanerReconciler{
		Clock:          clocktesting.NewFakePassiveClock(time.Unix(1_800_000_000, 0)),
		Validate:       func(context.Context, *v1alpha1.Cleaner) (string, string, error) { return "", "", err },
		Cleaners:       func(context.Context) ([]v1alpha1.Cleaner, error) { return nil, nil },
		CheckClock:     func() error { return nil },
		WhyOff:         func() string { return "" },
		AccountRefused: func(v1alpha1.ServiceAccountRef) bool { return false },
	}
}

// TestOnlyAnEditForgivesExhaustedRuns: observedGeneration stays behind while the cluster cannot be asked, and then the
// count goes on all the same.
func TestOnlyAnEditForgivesExhaustedRuns(t *testing.T) {
	t.Parallel()
	spec := v1alpha1.CleanerSpec{Schedule: "0 3 * * *"}
	now := v1alpha1.Stamp(2, spec.Hash())
	for name, test := range map[string]struct {
		observed int64
		stamp    string
		foreign  string
		want     int32
	}{
		"not edited":                       {2, now, "", 3},
		"not checked yet":                  {1, now, "", 3},
		"edited":                           {1, v1alpha1.Stamp(1, "x"), "", 0},
		"edited beside another controller": {1, v1alpha1.Stamp(1, "x"), "k8s-cleaner", 0},
		"edited under an older version":    {1, "", "", 0},
		"an older version left no stamp":   {2, "", "", 3},
		"not checked beside another one":   {1, now, "k8s-cleaner", 3},
	} {
		cleaner := &v1alpha1.Cleaner{Spec: spec}
		cleaner.Generation = 2
		cleaner.Status = v1alpha1.CleanerStatus{ObservedGeneration: test.observed, ObservedSpec: test.stamp, ExhaustedRuns: 3}
		r := assessor(context.DeadlineExceeded)
		found := r.begin(cleaner)
		found.memory.countless, found.foreign = true, test.foreign
		if _, err := r.plan(t.Context(), cleaner, found); err != nil {
			t.Fatal(err)
		}
		if got := cleaner.Status.ExhaustedRuns; got != test.want {
			t.Errorf("%s: %d runs count, want %d", name, got, test.want)
		}
	}
}
