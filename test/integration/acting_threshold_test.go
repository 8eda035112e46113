// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// counts reads the Cleaner's counts. They are nil when there is no ConfigMap.
func (b *bench) counts(c *v1alpha1.Cleaner) map[string]string {
	b.t.Helper()
	var cm corev1.ConfigMap
	err := b.user.Get(b.t.Context(), client.ObjectKey{Namespace: operatorNamespace, Name: "cleaner-" + c.Name}, &cm)
	if apierrors.IsNotFound(err) {
		return nil
	}
	must(b.t, err)
	if cm.Data == nil {
		return map[string]string{}
	}
	return cm.Data
}

// wantCounted compares the Cleaner's counts.
func (b *bench) wantCounted(c *v1alpha1.Cleaner, want map[string]string) {
	b.t.Helper()
	if diff := cmp.Diff(want, b.counts(c)); diff != "" {
		b.t.Fatalf("the counts of %s (-want +got):\n%s", c.Name, diff)
	}
}

// key is an object's key in the counts.
func key(cm *corev1.ConfigMap) string { return "ConfigMap__" + string(cm.UID) }

// Upstream: `occurrenceThreshold: 2` acts on first sight. Required: acts on the second consecutive match. One run without a
// match resets it. Test: table for 1, 2, 3, reset.
func TestOccurrenceThreshold(t *testing.T) {
	t.Parallel()
	// runs is one letter per run: m for a run in which the object matches, - for one in which it does not.
	tests := map[string]struct {
		threshold int32
		runs      string
		// acts is after which of the runs the object is gone. 0 means none.
		acts int
	}{
		"1":                    {1, "m", 1},
		"2":                    {2, "mm", 2},
		"2, once is not twice": {2, "m", 0},
		"2, reset":             {2, "m-mm", 4},
		"3":                    {3, "mmm", 3},
		"3, reset at 2":        {3, "mm-mm", 0},
		"3, reset, then 3":     {3, "mm-mmm", 6},
		"3, later":             {3, "--mmm", 5},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.configMap("old")
			c := b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale), threshold(test.threshold))
			for i, letter := range test.runs {
				matching := map[rune]string{'m': "yes", '-': "no"}[letter]
				edit(b, b.named("old"), func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"stale": matching} })
				run := b.run(c)
				wantRun(t, run, v1alpha1.ReasonCompleted)
				if acted := run.Status.Acted == 1; acted != (i+1 == test.acts) || b.exists("old") == acted {
					t.Fatalf("run %d acted: %t: %s", i+1, acted, run.Status.Message)
				}
				if waits := strings.Contains(run.Status.Message, " 1 more matched, but not yet in enough consecutive runs (occurrenceThreshold)."); waits != (letter == 'm' && i+1 != test.acts) {
					t.Fatalf("run %d says %s", i+1, run.Status.Message)
				}
			}
		})
	}
}

// State lives in ConfigMap cleaner-<name> in the operator namespace, key <Kind>__<UID>, value the count; adopt existing counts.
func TestThresholdAdoptsExistingCounts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one, two := b.configMap("one"), b.configMap("two")
	c := b.cleaner(v1alpha1.ActionDelete, threshold(3))
	adopted := &corev1.ConfigMap{Data: map[string]string{key(one): "1", key(two): "2", "ConfigMap__gone": "2", "odd": "many"}}
	adopted.Namespace, adopted.Name = operatorNamespace, "cleaner-"+c.Name
	must(t, b.user.Create(t.Context(), adopted))
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 deleted. 1 more matched")
	b.wantNames("one")
	b.wantCounted(c, map[string]string{key(one): "2", key(two): "3"})
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 deleted.")
	b.wantNames()
}

// TestThresholdAdoptsEmptyCounts: k8s-cleaner's last run matched nothing.
func TestThresholdAdoptsEmptyCounts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := b.configMap("one")
	c := b.cleaner(v1alpha1.ActionDelete, threshold(2))
	adopted := &corev1.ConfigMap{}
	adopted.Namespace, adopted.Name = operatorNamespace, "cleaner-"+c.Name
	must(t, b.user.Create(t.Context(), adopted))
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 more matched")
	b.wantCounted(c, map[string]string{key(one): "1"})
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 deleted.")
}

// Counting comes after the aggregated function: what it does not return does not count.
func TestThresholdCountsAfterTheAggregatedScript(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := b.configMap("one")
	b.configMap("two")
	script := `function evaluate()
  for _, r in ipairs(resources) do
    if r.metadata.name == "one" then return {resources = {{resource = r}}} end
  end
end`
	c := b.cleaner(v1alpha1.ActionDelete, aggregated(script), threshold(2))
	b.run(c)
	b.wantCounted(c, map[string]string{key(one): "1"})
	b.run(c)
	b.wantNames("two")
}

// A run that is carried out again under its name, because its operator went away, is counted once.
func TestRunCarriedOutTwiceIsCountedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := b.configMap("one")
	c := b.cleaner(v1alpha1.ActionDelete, threshold(3))
	request := run.Request{Cleaner: c.Name, Nominal: b.clock.Now(), Trigger: v1alpha1.TriggerSchedule}
	record := &v1alpha1.CleanerRun{}
	record.Name = v1alpha1.RunName(c.Name, request.Nominal)
	resume := b.stopped(http.MethodPut, "/status", func() { _, _ = b.runner.Run(context.WithoutCancel(t.Context()), request) })
	b.wantCounted(c, map[string]string{key(one): "1"})
	if phase := b.stored(record).Status.Phase; phase.Final() {
		t.Fatalf("the record's phase is %s", phase)
	}
	b.requests.setMeddle(nil)
	second := b.carryOut(t.Context(), request)
	wantRun(t, second, v1alpha1.ReasonCompleted)
	b.wantCounted(c, map[string]string{key(one): "1"})
	b.run(c)
	b.wantCounted(c, map[string]string{key(one): "2"})
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 deleted")
	resume()
}

// An incomplete view leaves the counts as they were.
func TestIncompleteViewLeavesCountsAsTheyWere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := b.configMap("one", stale)
	c := b.cleaner(v1alpha1.ActionDelete, evaluate(`function evaluate()
  if obj.data.stale == "error" then error("not known") end
  return {matching = true}
end`), threshold(3))
	b.run(c)
	before := map[string]string{key(one): "1"}
	b.wantCounted(c, before)
	two := b.configMap("two", func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"stale": "error"} })
	wantRun(t, b.run(c), v1alpha1.ReasonViewIncomplete, "ConfigMap "+b.namespace+"/two (", "not known")
	b.wantCounted(c, before)
	edit(b, two, func(cm *corev1.ConfigMap) { cm.Data["stale"] = "yes" })
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "2 more matched")
	b.wantCounted(c, map[string]string{key(one): "2", key(two): "1"})
}

// So does a run that could not find out what is protected.
func TestUnknownProtectionLeavesCountsAsTheyWere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := b.configMap("one")
	c := b.cleaner(v1alpha1.ActionDelete, threshold(2))
	b.run(c)
	b.refusing(http.MethodGet, "/namespaces/"+b.namespace, "the connection broke")
	wantRun(t, b.run(c), v1alpha1.ReasonViewIncomplete, "finding out which namespaces are protected: ", "the connection broke")
	b.wantCounted(c, map[string]string{key(one): "1"})
	b.wantNames("one")
}

// The ConfigMap goes when the threshold is 1.
func TestCountsGoWhenTheThresholdReturnsToOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := b.configMap("one")
	c := b.cleaner(v1alpha1.ActionDelete, threshold(2))
	b.reconcile(c)
	b.run(c)
	b.reconcile(c)
	b.wantCounted(c, map[string]string{key(one): "1"})
	edit(b, b.get(c.Name), func(c *v1alpha1.Cleaner) { c.Spec.OccurrenceThreshold = ptr.To[int32](1) })
	b.reconcile(c)
	b.wantCounted(c, nil)
	edit(b, b.get(c.Name), func(c *v1alpha1.Cleaner) { c.Spec.OccurrenceThreshold = ptr.To[int32](2) })
	b.run(c)
	b.wantCounted(c, map[string]string{key(one): "1"})
}

// A Scan counts as the other actions do: it reports on the second consecutive match.
func TestThresholdOfAScan(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("one")
	c := b.cleaner(v1alpha1.ActionScan, threshold(2), notifying(v1alpha1.NotificationCleanerReport))
	for i, want := range []int{0, 1, 1} {
		run := b.run(c)
		if got := len(b.reported(c).Spec.ResourceInfo); got != want || run.Status.Matched != int64(want) {
			t.Fatalf("the Report of run %d lists %d objects, want %d: %s", i+1, got, want, fmt.Sprint(run.Status.RunCounts))
		}
	}
}

// What matched another script, or another selector, did not match this one.
func TestThresholdStartsAnewWhenWhatSelectsIsEdited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("used")
	c := b.cleaner(v1alpha1.ActionScan, threshold(3)) // a look around: everything matches
	for range 3 {
		wantRun(t, b.run(c), v1alpha1.ReasonCompleted)
	}
	edit(b, b.get(c.Name), func(c *v1alpha1.Cleaner) {
		c.Spec.Action = ptr.To(v1alpha1.ActionDelete)
		evaluate(matchStale)(c)
	})
	edit(b, b.named("used"), stale) // for a moment, as in a rollout
	for range 2 {
		wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 more matched, but not yet in enough consecutive runs")
	}
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 deleted.")
}

// An edit of the action goes on counting: a Scan is how one looks before a Delete.
func TestThresholdGoesOnWhenTheActionIsEdited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	c := b.cleaner(v1alpha1.ActionScan, threshold(3))
	for i, changed := range []func(*v1alpha1.Cleaner){
		func(c *v1alpha1.Cleaner) { c.Spec.ResourcePolicySet.Action = ptr.To(v1alpha1.ActionScan) },
		func(c *v1alpha1.Cleaner) { c.Spec.Action, c.Spec.Schedule = nil, "0 4 * * *" },
		func(c *v1alpha1.Cleaner) { c.Spec.ResourcePolicySet.Action = ptr.To(v1alpha1.ActionDelete) },
	} {
		edit(b, b.get(c.Name), changed)
		if run := b.run(c); (run.Status.Acted == 1) != (i == 2) {
			t.Fatalf("run %d says %s", i+1, run.Status.Message)
		}
	}
}
