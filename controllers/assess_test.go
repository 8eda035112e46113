// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// TestAnswerStaysWhileNobodyKnows: a Cleaner that could not run does not become ready because the cluster cannot be
// asked whether it can now.
func TestAnswerStaysWhileNobodyKnows(t *testing.T) {
	t.Parallel()
	away := errors.New("the API server is away")
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "", errors.New("no"))
	for name, test := range map[string]struct {
		before string // the reason why it was not ready
		edited bool
		err    error
		want   string
	}{
		"its kind was not there":          {before: v1alpha1.ReasonUnknownKind, err: away, want: "False UnknownKind: as it was"},
		"its account was refused":         {before: v1alpha1.ReasonServiceAccountForbidden, err: away, want: "False ServiceAccountForbidden: as it was"},
		"its fields had other types":      {before: v1alpha1.ReasonInvalidExpression, err: away, want: "False InvalidExpression: as it was"},
		"it can run now":                  {before: v1alpha1.ReasonUnknownKind, want: "True Scheduled: It runs"},
		"it was edited":                   {before: v1alpha1.ReasonUnknownKind, edited: true, err: away, want: "True Scheduled: It runs"},
		"the answer will stay the same":   {before: v1alpha1.ReasonServiceAccountForbidden, err: forbidden, want: "True Scheduled: It runs"},
		"nobody need ask for its account": {before: v1alpha1.ReasonServiceAccountRequired, err: away, want: "True Scheduled: It runs"},
		"its schedule was not valid":      {before: v1alpha1.ReasonInvalidSchedule, err: away, want: "True Scheduled: It runs"},
	} {
		cleaner := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{Schedule: "0 3 * * *"}}
		cleaner.Generation = 1
		refuse(cleaner, test.before, "as it was")
		if test.edited {
			cleaner.Generation = 2
		}
		cleaner.Status.FailureMessage = nil // of a run that has ended well
		found := &round{memory: &memory{}}
		found.memory.countless = true // so that there are none to drop
		plan, err := assessor(test.err).plan(t.Context(), cleaner, found)
		if err != nil {
			t.Fatal(err)
		}
		ready := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionReady)
		got := fmt.Sprintf("%s %s: %s", ready.Status, ready.Reason, ready.Message)
		refused := ready.Status == "False"
		if got[:min(len(got), len(test.want))] != test.want || (plan == nil) != refused || found.unchecked != (test.err != nil) ||
			(cleaner.Status.FailureMessage != nil) != refused {
			t.Errorf("%s: got %s, want %s; the plan is %v, and the failure %v", name, got, test.want, plan, cleaner.Status.FailureMessage)
		}
	}
}
