// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

func TestSawAllUses(t *testing.T) {
	cluster := selector.Scope{Cluster: true}
	in := func(namespaces ...string) selector.Scope { return selector.Scope{Namespaces: namespaces} }
	for name, test := range map[string]struct {
		scopes []selector.Scope
		chosen []int // the selectors of what was chosen
		want   bool
	}{
		"one list":                             {[]selector.Scope{cluster}, []int{0, 0}, true},
		"one list of one namespace":            {[]selector.Scope{in("a")}, []int{0}, true},
		"one selector, two lists":              {[]selector.Scope{in("a", "b")}, []int{0}, false},
		"two lists, chosen of the first":       {[]selector.Scope{cluster, in("a")}, []int{0, 0}, true},
		"two lists, chosen of the second":      {[]selector.Scope{cluster, cluster}, []int{0, 1}, false},
		"the first selector looks nowhere":     {[]selector.Scope{in(), cluster, cluster}, []int{1}, false},
		"three selectors":                      {[]selector.Scope{cluster, cluster, cluster}, []int{0}, false},
		"two selectors, one of two namespaces": {[]selector.Scope{cluster, in("a", "b")}, []int{0}, false},
	} {
		var selections []selector.Selection
		for _, scope := range test.scopes {
			selections = append(selections, selector.Selection{Scope: scope})
		}
		var chosen []stage.Verdict
		for _, i := range test.chosen {
			chosen = append(chosen, stage.Verdict{Candidate: stage.Candidate{Selector: i}})
		}
		if got := sawAllUses(selections, chosen); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
