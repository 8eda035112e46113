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

// TestRequestThatWaitedForATakenOverRun is answered, although it is older than this operator. All times are minutes
// after the beginning of the run.
func TestRequestThatWaitedForATakenOverRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		asked, begun, ended int
		// another is true if another run was due first when the run ended.
		another bool
		runs    bool
	}{
		"it waited":                     {asked: 5, begun: 25, ended: 40, runs: true},
		"it waited for another as well": {asked: 5, begun: 25, ended: 40, another: true, runs: true},
		"it is from before the run":     {asked: -5, begun: 25, ended: 40},
		"it is from after the run":      {asked: 15, begun: 35, ended: 10},
		"the run had ended long ago":    {asked: 5, begun: 50, ended: 10},
		"the run had ended just now":    {asked: 5, begun: 30, ended: 28, runs: true},
		"no operator was there":         {asked: 5, begun: 180, ended: 185},
	} {
		at := func(minutes int) time.Time {
			return time.Unix(1_800_000_000, 0).UTC().Add(time.Duration(minutes) * time.Minute)
		}
		clock := clocktesting.NewFakePassiveClock(at(test.begun))
		r := assessor(nil)
		r.Clock, r.Weight = clock, func(*v1alpha1.Cleaner) int64 { return 0 }
		r.begun()
		clock.SetTime(at(max(test.begun, test.ended)))
		cleaner := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{Suspend: ptr.To(true)}} // so that no tick is due
		cleaner.Annotations = map[string]string{v1alpha1.RunRequestedAtAnnotation: at(test.asked).Format(time.RFC3339)}
		ended := &v1alpha1.CleanerRun{Status: v1alpha1.CleanerRunStatus{CompletionTime: ptr.To(metav1.NewTime(at(test.ended)))}}
		ended.CreationTimestamp = metav1.NewTime(at(0))
		found := &round{memory: &memory{}, ended: ended}
		if test.another {
			cleaner.Status.ActiveRun = &v1alpha1.ActiveRun{}
			r.decide(cleaner, &schedule.Schedule{}, found)
			cleaner.Status.ActiveRun, found.ended = nil, nil
		}
		r.decide(cleaner, &schedule.Schedule{}, found)
		if runs := cleaner.Status.ActiveRun != nil; runs != test.runs {
			t.Errorf("%s: it runs: %t, want %t", name, runs, test.runs)
		}
	}
}
