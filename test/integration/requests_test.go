// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// of are the requests since the n-th, with words for what differs from run to run.
func (l *requestLog) of(n int, words ...string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var requests []string
	for _, entry := range l.entries[n:] {
		requests = append(requests, strings.NewReplacer(words...).Replace(entry))
	}
	slices.Sort(requests)
	return requests
}

func (l *requestLog) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}

// TestRequestsOfATinyRun: with a thousand Cleaners that are due together, what each run asks of the API server is what it takes. The
// records are listed after the first run only, and the counts of occurrences looked for only once.
func TestRequestsOfATinyRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.startExecutor()
	b.configMap("old")
	c := b.cleaner(v1alpha1.ActionScan, func(c *v1alpha1.Cleaner) { c.Spec.SuccessfulRunsHistoryLimit = ptr.To(int32(1)) })
	b.reconcile(c)
	first := b.runNow(c).Status.LastRun.Name
	b.reconcile(c) // deletes old records
	edit(b, b.get(c.Name), func(c *v1alpha1.Cleaner) { c.Spec.SuccessfulRunsHistoryLimit = ptr.To(int32(0)) })
	before := b.requests.len()
	second := b.runNow(c).Status.LastRun.Name
	b.reconcile(c)
	got := b.requests.of(before, first, "FIRST", second, "SECOND", c.Name, "CLEANER", b.namespace, "NAMESPACE", "/apis/apps.projectsveltos.io/v1alpha1/", "")
	got = slices.DeleteFunc(got, func(request string) bool { return request == "GET cleaners/CLEANER" }) // by the run too; the manager has a cache
	want := []string{
		"DELETE cleanerruns/FIRST",
		"DELETE cleanerruns/SECOND",
		"GET /api/v1/namespaces/NAMESPACE",
		"GET /api/v1/namespaces/NAMESPACE/configmaps",
		"GET /openapi/v3/apis/apps.projectsveltos.io/v1alpha1", // one a second, for all Cleaners
		"GET cleanerruns/SECOND",
		"PATCH cleaners/CLEANER/status", // it is going on
		"PATCH cleaners/CLEANER/status", // what came of it
		"POST cleanerruns",
		"PUT cleanerruns/SECOND/status",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a tiny run made other requests than it must (-want +got):\n%s", diff)
	}
}
