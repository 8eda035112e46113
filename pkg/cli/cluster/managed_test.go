// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestWhy: no object of a run is shown without a reason as long as the run knows one. Where it knows none, nothing is
// said: that the Cleaner selects what it deletes is no news.
func TestWhy(t *testing.T) {
	run := &v1alpha1.CleanerRun{}
	run.Spec.DryRunReason = "all acting is stopped (incident 7)"
	run.Status.Message = "3 objects match, and maxObjects is 2."
	for want, o := range map[string]v1alpha1.ObjectOutcome{
		"unused":                     {Outcome: v1alpha1.OutcomeDeleted, Message: "unused"},
		"a webhook said no":          {Outcome: v1alpha1.OutcomeDenied, Reason: "a webhook said no", Message: "unused"},
		"idle; change: {\"spec\":1}": {Outcome: v1alpha1.OutcomePlanned, Message: "idle", Change: `{"spec":1}`},
		"change: {}":                 {Outcome: v1alpha1.OutcomePlanned, Change: "{}"},
		"only reported, because all acting is stopped (incident 7)": {Outcome: v1alpha1.OutcomeDryRun},
		"": {Outcome: v1alpha1.OutcomeMatched},
		"it has finalizers: example.com/a (it matches: unused)": {Outcome: v1alpha1.OutcomeTerminating, Reason: "it has finalizers: example.com/a", Message: "unused"},
		"somebody else deleted it first":                        {Outcome: v1alpha1.OutcomeGone},
		"3 objects match, and maxObjects is 2.":                 {Outcome: v1alpha1.OutcomeNotActed},
	} {
		if got := Why(run, &o); got != want {
			t.Errorf("%+v: got %q, want %q", o, got, want)
		}
	}
}
