// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"flag"
	"os"
	"runtime"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

var leakRuns = flag.Int("leak-runs", 300, "after how many runs goroutines and descriptors are counted")

// TestRunsLeaveNothingBehind: neither goroutines nor descriptors grow with the number of runs. It counts the process's own, so it
// does not run beside others.
func TestRunsLeaveNothingBehind(t *testing.T) {
	many := *leakRuns
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionDelete, evaluate(matchStale), rollback(v1alpha1.Rollback{Storage: v1alpha1.StorageNone}))
	runOnce := func(i int) {
		if i%10 == 0 {
			b.configMap("old", stale)
		}
		wantRun(t, b.run(c), v1alpha1.ReasonCompleted)
	}
	for i := range 10 {
		runOnce(i)
	}
	goroutines, descriptors := runtime.NumGoroutine(), openDescriptors(t)
	for i := range many {
		runOnce(i)
	}
	must(t, b.reconciler.Journal.Prune(t.Context(), c, &journal.History{}))
	const few = 5 // the HTTP client and the runtime have some that come and go
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return runtime.NumGoroutine() <= goroutines+few && openDescriptors(t) <= descriptors+few, nil
	})
	if err != nil {
		stacks := make([]byte, 64<<10)
		t.Fatalf("after %d more runs there are %d goroutines, before %d; %d descriptors, before %d\n%s",
			many, runtime.NumGoroutine(), goroutines, openDescriptors(t), descriptors, stacks[:runtime.Stack(stacks, true)])
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if os.IsNotExist(err) {
		t.Skip("this system does not list open descriptors")
	}
	must(t, err)
	return len(entries)
}
