// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const (
	many = 300
	// period is the time between two runs of each of the many.
	period = 20 * time.Second
)

// hostileScripts take all that they can get: time, in a way that can be interrupted and in one that cannot, and memory.
var hostileScripts = []string{
	`function evaluate() while true do end end`,
	hang,
	`function evaluate() local t = {} while true do t[#t + 1] = {#t} end end`,
}

// 300 Cleaners that are due each 20 seconds, each listing one small kind, with default flags: when all are due again, each of the 300 runs
// once, and well; first alone, then beside three whose scripts hang. How long the last one took is printed beside its target, which is for 2
// cores, and beside what a plain client takes for the same requests; it is not judged: other tests share the machine.
func TestThreeHundredCleanersDueAtOnce(t *testing.T) {
	c := newClient(t)
	newNamespace(t, c, "many", 3)
	createCleaners(t, c, many)
	m := startManager(t)
	waitForRuns(t, c, many, time.Time{})
	alone, runs := nextRuns(t, c)
	for i, script := range hostileScripts {
		must(t, c.Create(t.Context(), manyCleaner(fmt.Sprint("hostile-many-", i), script)))
	}
	beside, _ := nextRuns(t, c)
	m.stop(t)
	floor := askAsRuns(t, c, runs)
	what := fmt.Sprintf("the last of %d Cleaners has its result in status (a plain client takes %d ms for the requests)", many, floor.Milliseconds())
	measured(t, what, alone, 5*time.Second)
	measured(t, what+" beside three whose scripts hang", beside, 5*time.Second)
}

// nextRuns waits until the many have run once more, and returns how long after they were due the last one had its result, and the records.
func nextRuns(t *testing.T, c client.WithWatch) (time.Duration, []v1alpha1.CleanerRun) {
	t.Helper()
	due := time.Now().Truncate(period).Add(period)
	last := waitForRuns(t, c, many, due)
	runs := runsOf(t, c, due)
	if len(runs) != many {
		t.Fatalf("%d of %d Cleaners left a CleanerRun", len(runs), many)
	}
	return last.Sub(due), runs
}

// runsOf are the records of the many, for each the first that was due then or later. On a machine that is too busy for all of them within a
// period, the last ones miss the moment, and run for the next one.
func runsOf(t *testing.T, c client.Client, due time.Time) []v1alpha1.CleanerRun {
	t.Helper()
	var list v1alpha1.CleanerRunList
	must(t, c.List(t.Context(), &list))
	runs := slices.DeleteFunc(list.Items, func(run v1alpha1.CleanerRun) bool {
		return !strings.HasPrefix(run.Spec.Cleaner, "many-") || run.Spec.NominalTime.Time.Before(due)
	})
	slices.SortFunc(runs, func(a, b v1alpha1.CleanerRun) int {
		return cmp.Or(cmp.Compare(a.Spec.Cleaner, b.Spec.Cleaner), a.Spec.NominalTime.Compare(b.Spec.NominalTime.Time))
	})
	return slices.CompactFunc(runs, func(a, b v1alpha1.CleanerRun) bool { return a.Spec.Cleaner == b.Spec.Cleaner })
}

func manyCleaner(name, script string) *v1alpha1.Cleaner {
	return &v1alpha1.Cleaner{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.CleanerSpec{
			Schedule: "*/20 * * * * *", Action: ptr.To(v1alpha1.ActionScan),
			ResourcePolicySet: v1alpha1.ResourcePolicySet{ResourceSelectors: []v1alpha1.ResourceSelector{
				{Version: "v1", Kind: "ConfigMap", Namespace: "many", Evaluate: script},
			}},
		},
	}
}

// createCleaners creates the many. They go with the test: the tests after it use the same API server, and their managers would run them too.
func createCleaners(t *testing.T, c client.Client, n int) {
	t.Helper()
	t.Cleanup(func() { must(t, c.DeleteAllOf(context.Background(), &v1alpha1.Cleaner{})) })
	var group sync.WaitGroup
	errs := make([]error, n)
	for worker := range 8 {
		group.Go(func() {
			for i := worker; i < n; i += 8 {
				errs[i] = c.Create(t.Context(), manyCleaner(fmt.Sprintf("many-%03d", i), "function evaluate() return {matching = true} end"))
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		must(t, err)
	}
}

// waitForRuns watches until n Cleaners have the result of a run in their status that was due then or later, and returns when the last had.
func waitForRuns(t *testing.T, c client.WithWatch, n int, due time.Time) time.Time {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w, err := c.Watch(ctx, &v1alpha1.CleanerList{})
	must(t, err)
	defer w.Stop()
	done := map[string]bool{}
	for event := range w.ResultChan() {
		cleaner, ok := event.Object.(*v1alpha1.Cleaner)
		if !ok || !strings.HasPrefix(cleaner.Name, "many-") || event.Type == watch.Deleted || cleaner.Status.LastRun == nil || cleaner.Status.LastRun.NominalTime.Time.Before(due) {
			continue
		}
		if cleaner.Status.LastRun.Matched < 3 {
			t.Fatalf("%s: %s", cleaner.Name, ptr.Deref(cleaner.Status.FailureMessage, "matched too little"))
		}
		if done[cleaner.Name] = true; len(done) == n {
			return time.Now()
		}
	}
	t.Fatalf("%d of %d Cleaners ran", len(done), n)
	return time.Time{}
}
