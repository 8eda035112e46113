// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const (
	// everySecond is a schedule.
	everySecond = "* * * * * *"
	// hang is a pattern in which the interpreter stays for longer than anyone waits, and that nothing interrupts.
	hang = `function evaluate() return {matching = string.find(string.rep("a", 30), string.rep("a?", 30) .. string.rep("a", 30)) ~= nil} end`
)

// A Cleaner that runs every second and whose script hangs is stopped by a condition after three runs. Meanwhile a Cleaner beside
// it goes on.
func TestHostileCleanerBesideANormalOne(t *testing.T) {
	c := newClient(t)
	newNamespace(t, c, "hostile", 3)
	startManager(t)
	create := func(name, script string) *v1alpha1.Cleaner {
		cleaner := &v1alpha1.Cleaner{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: v1alpha1.CleanerSpec{
				Schedule: everySecond, Action: ptr.To(v1alpha1.ActionDelete), SuccessfulRunsHistoryLimit: ptr.To[int32](1000),
				ResourcePolicySet: v1alpha1.ResourcePolicySet{ResourceSelectors: []v1alpha1.ResourceSelector{
					{Version: "v1", Kind: "ConfigMap", Namespace: "hostile", Evaluate: script},
				}},
			},
		}
		must(t, c.Create(t.Context(), cleaner))
		t.Cleanup(func() { _ = c.Delete(context.Background(), cleaner) })
		return cleaner
	}
	create("normal", "function evaluate() return {matching = false} end")
	hostile := create("hostile", hang)
	eventually(t, "the hostile Cleaner is stopped", func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(hostile), hostile)
		ready := meta.FindStatusCondition(hostile.Status.Conditions, v1alpha1.ConditionReady)
		return ready != nil && ready.Reason == v1alpha1.ReasonBudgetExhausted, err
	})
	var runs v1alpha1.CleanerRunList
	must(t, c.List(t.Context(), &runs))
	of := func(name string) []v1alpha1.CleanerRun {
		return slices.DeleteFunc(slices.Clone(runs.Items), func(run v1alpha1.CleanerRun) bool {
			return run.Spec.Cleaner != name || run.Status.CompletionTime == nil
		})
	}
	for _, run := range of("hostile") {
		if run.Status.Acted != 0 || run.Status.Reason != v1alpha1.ReasonViewIncomplete {
			t.Errorf("%s: %s: %s", run.Name, run.Status.Reason, run.Status.Message)
		}
	}
	var slowest time.Duration // logged, and not judged: it is the machine's
	beside := 0
	for _, run := range of("normal") {
		slowest = max(slowest, run.Status.CompletionTime.Sub(run.Spec.NominalTime.Time))
		if run.Status.Reason != v1alpha1.ReasonCompleted {
			t.Errorf("%s: %s: %s", run.Name, run.Status.Reason, run.Status.Message)
		}
		if slices.ContainsFunc(of("hostile"), func(hanging v1alpha1.CleanerRun) bool {
			return !run.Spec.NominalTime.Before(hanging.Status.StartTime) && !hanging.Status.CompletionTime.Before(run.Status.CompletionTime)
		}) {
			beside++
		}
	}
	t.Logf("%d runs of the normal Cleaner, %d of them while the hostile one hung; the slowest ended %s after it was due", len(of("normal")), beside, slowest)
	if beside < 3 { // 15 seen, and 1 with --max-parallel-runs=1
		t.Errorf("only %d runs of the normal Cleaner began and ended while the hostile one hung", beside)
	}
}
