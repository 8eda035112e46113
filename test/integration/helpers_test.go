// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Name: name}}
}

// wantRun fails the test unless the run ended for the reason, with a message that contains each text.
func wantRun(t *testing.T, run *v1alpha1.CleanerRun, reason string, texts ...string) {
	t.Helper()
	if run.Status.Reason != reason {
		t.Fatalf("the run ended with reason %s, want %s: %s", run.Status.Reason, reason, run.Status.Message)
	}
	for _, text := range texts {
		if !strings.Contains(run.Status.Message, text) {
			t.Fatalf("the message is %q, want it to contain %q", run.Status.Message, text)
		}
	}
	if got, want := run.Status.Conditions, run.EndConditions(); len(want) == 0 || !equality.Semantic.DeepEqual(got, want) {
		t.Fatalf("the conditions of %s are %+v, want %+v", run.Name, got, want)
	}
}

// wantCounts compares considered, matched, acted, skipped and failed.
func wantCounts(t *testing.T, run *v1alpha1.CleanerRun, want v1alpha1.RunCounts) {
	t.Helper()
	if run.Status.RunCounts != want {
		t.Fatalf("counts are %+v, want %+v (%s)", run.Status.RunCounts, want, run.Status.Message)
	}
}

// wantCondition fails the test unless the condition has the status and reason, and a message that contains each text.
func wantCondition(t *testing.T, c *v1alpha1.Cleaner, kind, status, reason string, texts ...string) {
	t.Helper()
	condition := meta.FindStatusCondition(c.Status.Conditions, kind)
	if condition == nil {
		t.Fatalf("there is no condition %s, want %s %s", kind, status, reason)
	}
	if string(condition.Status) != status || condition.Reason != reason || condition.ObservedGeneration != c.Generation {
		t.Fatalf("condition %s is %s %s of generation %d, want %s %s of %d: %s", kind, condition.Status, condition.Reason,
			condition.ObservedGeneration, status, reason, c.Generation, condition.Message)
	}
	for _, text := range texts {
		if !strings.Contains(condition.Message, text) {
			t.Fatalf("the message of %s is %q, want it to contain %q", kind, condition.Message, text)
		}
	}
}

// wantStalled fails the test unless the condition Stalled says the same as Ready, which is False.
func wantStalled(t *testing.T, c *v1alpha1.Cleaner, reason string, texts ...string) {
	t.Helper()
	wantCondition(t, c, v1alpha1.ConditionReady, "False", reason, texts...)
	wantCondition(t, c, v1alpha1.ConditionStalled, "True", reason, texts...)
}

// wantNotStalled fails the test if there is a condition Stalled: kstatus wants it absent, not False.
func wantNotStalled(t *testing.T, c *v1alpha1.Cleaner) {
	t.Helper()
	if stalled := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionStalled); stalled != nil {
		t.Errorf("condition Stalled is %s %s: %s", stalled.Status, stalled.Reason, stalled.Message)
	}
}

// outcomes returns what became of each object, by name.
func outcomes(run *v1alpha1.CleanerRun) map[string]v1alpha1.OutcomeResult {
	found := map[string]v1alpha1.OutcomeResult{}
	for _, o := range run.Status.Objects {
		found[o.Name] = o.Outcome
	}
	return found
}
