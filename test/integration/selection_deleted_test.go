// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"testing"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func excludingDeleted(exclude *bool) func(*v1alpha1.Cleaner) {
	return edited(func(s *v1alpha1.ResourceSelector) { s.ExcludeDeleted = exclude })
}

// Upstream: `excludeDeleted: false` is dropped when the controller or dashboard writes the object, and comes back as true.
// Required: false survives every write. Test: create with false, reconcile, edit, read back.
func TestExcludeDeletedFalseSurvivesEveryWrite(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.startExecutor()
	c := b.cleaner(v1alpha1.ActionScan, excludingDeleted(ptr.To(false)))
	want := func(when string) {
		t.Helper()
		if got := string(excludeDeletedOf(t, c.Name)); got != "false" {
			t.Fatalf("%s, excludeDeleted is %s", when, got)
		}
	}
	want("created")
	b.reconcile(c)
	want("reconciled")
	edit(b, b.get(c.Name), func(c *v1alpha1.Cleaner) { c.Spec.Schedule = "@hourly" })
	want("edited")
	whole := b.get(c.Name)
	whole.Spec.Schedule = "@daily"
	must(t, b.user.Update(t.Context(), whole))
	want("updated as a whole")
	edit(b, b.get(c.Name), func(c *v1alpha1.Cleaner) { c.Finalizers = []string{v1alpha1.LegacyFinalizer} })
	b.reconcile(c)
	b.runNow(c)
	want("run")
}

// excludeDeletedOf reads the first selector's excludeDeleted as the API server stores it.
func excludeDeletedOf(t *testing.T, name string) json.RawMessage {
	t.Helper()
	var c struct {
		Spec struct {
			ResourcePolicySet struct {
				ResourceSelectors []struct{ ExcludeDeleted json.RawMessage }
			}
		}
	}
	must(t, json.Unmarshal(rawGet(t, "/apis/apps.projectsveltos.io/v1alpha1/cleaners/"+name), &c))
	return c.Spec.ResourcePolicySet.ResourceSelectors[0].ExcludeDeleted
}

// rawGet reads a path of the API server byte by byte.
func rawGet(t *testing.T, path string) []byte {
	t.Helper()
	return rawGetAs(t, path, "application/json")
}

// rawGetAs reads a path in a form. An API server that is not ready to list a kind yet is asked again.
func rawGetAs(t *testing.T, path, accept string) []byte {
	t.Helper()
	server, err := discovery.NewDiscoveryClientForConfig(env.Config)
	must(t, err)
	body, err := server.RESTClient().Get().RequestURI(path).SetHeader("Accept", accept).DoRaw(t.Context())
	if err != nil {
		t.Fatalf("reading %s: %v: %s", path, err, body)
	}
	return body
}

// excludeDeleted: default true: skip objects with a deletionTimestamp.
func TestExcludeDeleted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("here")
	ending := b.configMap("ending", b.finalized)
	must(t, b.user.Delete(t.Context(), ending))
	tests := map[string]struct {
		exclude *bool
		want    int64
	}{"unset": {nil, 1}, "true": {ptr.To(true), 1}, "false": {ptr.To(false), 2}}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			run := b.run(b.cleaner(v1alpha1.ActionScan, excludingDeleted(test.exclude)))
			wantCounts(t, run, v1alpha1.RunCounts{Considered: test.want, Matched: test.want})
			if _, found := outcomes(run)["ending"]; found != (test.want == 2) {
				t.Fatalf("what matched: %v", outcomes(run))
			}
		})
	}
}

// minAgeSeconds skips objects created less than this many seconds ago.
func TestMinAgeSeconds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	created := b.configMap("cm").CreationTimestamp.Time
	c := b.cleaner(v1alpha1.ActionDelete, edited(func(s *v1alpha1.ResourceSelector) { s.MinAgeSeconds = ptr.To[int64](3600) }))
	b.clock.SetTime(created.Add(3598 * time.Second)) // a run is one second later
	wantCounts(t, b.run(c), v1alpha1.RunCounts{})
	if !b.exists("cm") {
		t.Fatal("an object was deleted one second before it had the age")
	}
	wantCounts(t, b.run(c), v1alpha1.RunCounts{Considered: 1, Matched: 1, Acted: 1})
	b.wantNames()
}
