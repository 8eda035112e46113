// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const matchStale = `function evaluate()
  if obj.data ~= nil and obj.data.stale == "yes" then
    return {matching = true, message = obj.metadata.name .. " is stale"}
  end
  return {matching = false}
end`

func stale(cm *corev1.ConfigMap) { cm.Data = map[string]string{"stale": "yes"} }

func evaluate(script string) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) { c.Spec.ResourcePolicySet.ResourceSelectors[0].Evaluate = script }
}

func TestDeleteDeletesJustWhatMatches(t *testing.T) {
	b := newBench(t)
	b.configMap("old", stale)
	b.configMap("used")
	run := b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 2 objects matched; 1 deleted")
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 2, Matched: 1, Acted: 1})
	if b.exists("old") || !b.exists("used") {
		t.Fatal("the run deleted the wrong ConfigMap")
	}
	if got := run.Status.Objects[0]; got.Outcome != v1alpha1.OutcomeDeleted || got.Message != "old is stale" {
		t.Fatalf("the record says %+v", got)
	}
}

func TestScanTouchesNothing(t *testing.T) {
	b := newBench(t)
	b.configMap("old", stale)
	run := b.run(b.cleaner(v1alpha1.ActionScan, evaluate(matchStale)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 1 object matched.")
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 1, Matched: 1})
	if !b.exists("old") || b.requests.count("DELETE", "") != 0 || b.requests.count("PATCH", "") != 0 {
		t.Fatal("a Scan touched something")
	}
}

func TestTransformSendsOnlyWhatTheScriptChanged(t *testing.T) {
	b := newBench(t)
	b.configMap("old", stale, func(cm *corev1.ConfigMap) { cm.Data["keep"] = "1"; cm.BinaryData = map[string][]byte{"b": {1, 2}} })
	run := b.run(b.cleaner(v1alpha1.ActionTransform, evaluate(matchStale), func(c *v1alpha1.Cleaner) {
		c.Spec.Transform = `function transform() obj.data.stale = "no"; obj.data.added = "3"; return {resource = obj} end`
	}))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 changed")
	var cm corev1.ConfigMap
	must(t, b.user.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "old"}, &cm))
	want := map[string]string{"stale": "no", "added": "3", "keep": "1"}
	if diff := cmp.Diff(want, cm.Data); diff != "" {
		t.Fatal(diff)
	}
	if len(cm.BinaryData) != 1 || b.requests.count("PUT", "/old") != 0 {
		t.Fatal("the transform touched more than the script changed")
	}
}

func TestTransformThatChangesNothingSendsNothing(t *testing.T) {
	b := newBench(t)
	b.configMap("old", stale)
	run := b.run(b.cleaner(v1alpha1.ActionTransform, func(c *v1alpha1.Cleaner) {
		c.Spec.Transform = `function transform() return {resource = obj} end`
	}))
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 1, Matched: 1, Skipped: 1})
	if outcomes(run)["old"] != v1alpha1.OutcomeUnchanged || b.requests.count("PATCH", "/old") != 0 {
		t.Fatalf("a transform that changes nothing sent something: %v", outcomes(run))
	}
}

// While outcomes are saved, the record, which can be large, is looked at from time to time only.
func TestSavingOutcomesReadsTheRecordSeldom(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 450)
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionDelete)), v1alpha1.ReasonCompleted, "450 deleted")
	saved, read := 0, 0
	b.requests.mu.Lock()
	defer b.requests.mu.Unlock()
	for _, request := range b.requests.entries {
		if strings.HasPrefix(request, "PUT ") && strings.Contains(request, "/secrets/") {
			saved++
		}
		if strings.HasPrefix(request, "GET ") && strings.Contains(request, "/cleanerruns/") {
			read++
		}
	}
	if saved < 3 || read > 2 {
		t.Errorf("the outcomes were saved %d times, and the record was read %d times", saved, read)
	}
}
