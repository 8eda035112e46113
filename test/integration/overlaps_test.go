// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestOverlapInStatus: a Cleaner says that it acts on the same objects as another one, as long as that is so, and is
// ready all the same.
func TestOverlapInStatus(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	wide := b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) {
		c.Spec.ResourcePolicySet.ResourceSelectors[0].LabelFilters = nil
	})
	narrow, apart := b.cleaner(v1alpha1.ActionDelete), b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) {
		c.Spec.ResourcePolicySet.ResourceSelectors[0].Kind = "Secret"
	})
	b.reconciler.Cleaners = func(context.Context) ([]v1alpha1.Cleaner, error) {
		return []v1alpha1.Cleaner{*wide, *narrow, *apart}, nil
	}
	wants := func(c, other *v1alpha1.Cleaner) *v1alpha1.Cleaner {
		t.Helper()
		got := b.reconcile(c)
		text := "It runs every day at 03:00 UTC."
		if other != nil {
			text += " Note: it can act on the same objects as Cleaner " + other.Name + "; see kubectl cleaner doctor."
		}
		wantCondition(t, got, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled, text)
		if ready := meta.FindStatusCondition(got.Status.Conditions, v1alpha1.ConditionReady); other == nil && strings.Contains(ready.Message, "Note: it can act") {
			t.Errorf("it says %q", ready.Message)
		}
		return got
	}
	wants(apart, nil)
	wants(wide, narrow)
	seen := wants(narrow, wide)
	if again := wants(narrow, wide); again.ResourceVersion != seen.ResourceVersion {
		t.Error("the status was written although nothing had changed")
	}

	actAs := func(action v1alpha1.Action) {
		t.Helper()
		edited := b.get(wide.Name)
		edited.Spec.Action = ptr.To(action)
		must(t, b.user.Update(t.Context(), edited))
	}
	actAs(v1alpha1.ActionScan)
	wants(wide, nil)
	wants(narrow, nil)
	actAs(v1alpha1.ActionDelete)
	wants(wide, narrow)
	wants(narrow, wide)

	runsAt := func(schedule string) {
		t.Helper()
		edited := b.get(wide.Name)
		edited.Spec.Schedule = schedule
		must(t, b.user.Update(t.Context(), edited))
	}
	runsAt("never")
	wantCondition(t, b.reconcile(wide), v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidSchedule)
	wants(narrow, nil)
	runsAt(wide.Spec.Schedule)
	wants(wide, narrow)
	wants(narrow, wide)

	must(t, b.user.Delete(t.Context(), wide))
	if _, err := b.reconciler.Reconcile(t.Context(), request(wide.Name)); err != nil {
		t.Fatal(err)
	}
	wants(narrow, nil)
}
