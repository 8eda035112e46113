// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
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

// 300 Cleaners that are due at the same moment, each listing one small kind, with default flags: each runs once. How long
// the last one took is printed and not judged: other tests share the machine. Alone, on 2 cores, it should be less than 5 s.
func TestThreeHundredCleanersDueAtOnce(t *testing.T) {
	const many = 300
	c := newClient(t)
	newNamespace(t, c, "many", 3)
	startManager(t)
	due := time.Now().Add(20 * time.Second).Truncate(time.Second).UTC()
	schedule := fmt.Sprintf("%d %d %d * * *", due.Second(), due.Minute(), due.Hour())
	createCleaners(t, c, many, schedule)
	if time.Now().After(due) {
		t.Fatalf("creating %d Cleaners took too long for the test to mean anything", many)
	}
	last := waitForRuns(t, c, many)
	t.Logf("the last of %d Cleaners had its result in status %.1f s after the moment they were due", many, last.Sub(due).Seconds())
	var runs v1alpha1.CleanerRunList
	must(t, c.List(t.Context(), &runs))
	left := slices.DeleteFunc(runs.Items, func(run v1alpha1.CleanerRun) bool { return !strings.HasPrefix(run.Name, "many-") })
	if len(left) != many {
		t.Fatalf("%d Cleaners left %d CleanerRuns", many, len(left))
	}
}

func createCleaners(t *testing.T, c client.Client, n int, schedule string) {
	t.Helper()
	var group sync.WaitGroup
	errs := make([]error, n)
	for worker := range 8 {
		group.Go(func() {
			for i := worker; i < n; i += 8 {
				errs[i] = c.Create(t.Context(), &v1alpha1.Cleaner{
					ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("many-%03d", i)},
					Spec: v1alpha1.CleanerSpec{
						Schedule: schedule, Action: ptr.To(v1alpha1.ActionScan),
						ResourcePolicySet: v1alpha1.ResourcePolicySet{ResourceSelectors: []v1alpha1.ResourceSelector{
							{Version: "v1", Kind: "ConfigMap", Namespace: "many", Evaluate: "function evaluate() return {matching = true} end"},
						}},
					},
				})
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		must(t, err)
	}
}

// waitForRuns watches until n Cleaners have the result of a run in their status, and returns when the last one had.
func waitForRuns(t *testing.T, c client.WithWatch, n int) time.Time {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w, err := c.Watch(ctx, &v1alpha1.CleanerList{})
	must(t, err)
	defer w.Stop()
	done := map[string]bool{}
	for event := range w.ResultChan() {
		cleaner, ok := event.Object.(*v1alpha1.Cleaner)
		if !ok || event.Type == watch.Deleted || cleaner.Status.LastRun == nil || cleaner.Status.ActiveRun != nil {
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
