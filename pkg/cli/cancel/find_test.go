// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cancel

import (
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// A run goes before a Cleaner of the same name, in whatever order they are listed.
func TestRunGoesBeforeACleaner(t *testing.T) {
	cleaner := func(name, run string) *v1alpha1.Cleaner {
		c := &v1alpha1.Cleaner{}
		if c.Name = name; run != "" {
			c.Status.ActiveRun = &v1alpha1.ActiveRun{Name: run}
		}
		return c
	}
	a, same := cleaner("a", "a-1"), cleaner("a-1", "a-1-2")
	for _, listed := range [][]*v1alpha1.Cleaner{{a, same}, {same, a}} {
		var f candidates
		for _, c := range listed {
			f.look("a-1", c)
		}
		if got := f.meant("a-1"); got != a {
			t.Errorf("got %v, want the Cleaner whose run has the name", got)
		}
	}
	var f candidates
	f.look("", cleaner("b", ""))
	if got := f.meant(""); got != nil {
		t.Errorf("no name means %v", got)
	}
}

// The hint does not repeat that no active run has the name.
func TestActiveHint(t *testing.T) {
	for want, active := range map[string][]string{
		"to list the runs: kubectl cleaner runs":    nil,
		`did you mean "tidy-1"?`:                    {"tidy-1", "other-1"},
		"these runs are active or waiting: other-1": {"other-1"},
	} {
		if got := activeHint("tidy-2", active); got != want {
			t.Errorf("of %q it says %q, want %q", active, got, want)
		}
	}
}
