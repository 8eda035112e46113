// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/deadline"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// TestStopWordsInAList: who reads how much matched must also read that most was not looked at.
func TestStopWordsInAList(t *testing.T) {
	late, later, suspended := error(&deadline.Error{Limit: 40 * time.Second}), error(&deadline.Error{Limit: deadline.Max}), errors.New("the Cleaner was suspended")
	broken := selector.Selection{Considered: 7, Err: errors.New("an answer that broke off")}
	cut := func(n int64, stopped error) selector.Selection {
		return selector.Selection{Considered: n, Err: fmt.Errorf("listing: %w", stopped)}
	}
	const script = "function evaluate() end"
	pod, secret, job := v1alpha1.ResourceSelector{Kind: "Pod"}, v1alpha1.ResourceSelector{Kind: "Secret", Evaluate: script}, v1alpha1.ResourceSelector{Kind: "Job"}
	for name, c := range map[string]struct {
		stopped    error
		selectors  []v1alpha1.ResourceSelector
		selections []selector.Selection
		want       string
	}{
		"the only one": {
			late,
			[]v1alpha1.ResourceSelector{secret},
			[]selector.Selection{cut(180, late)},
			"activeDeadlineSeconds (40) passed after the run had judged 180 objects of kind Secret, and the list was not read to its end; " +
				"raise it (at most 3600), or let the Cleaner select less by namespace, labelFilters or matchConditions, or make its script faster.",
		},
		"the first of three": {
			late,
			[]v1alpha1.ResourceSelector{pod, secret, job},
			[]selector.Selection{cut(1, late), cut(0, late), cut(0, late)},
			"activeDeadlineSeconds (40) passed after 0 of 3 selectors; the run had judged 1 object of kind Pod (resourceSelectors[0]), and the list was not read to its end; " +
				"raise it (at most 3600), or let the Cleaner select less by namespace or labelFilters.",
		},
		"the last of three": {
			later,
			[]v1alpha1.ResourceSelector{pod, job, secret},
			[]selector.Selection{{}, {}, cut(2, later)},
			"activeDeadlineSeconds (3600) passed after 2 of 3 selectors; the run had judged 2 objects of kind Secret (resourceSelectors[2]), and the list was not read to its end; " +
				"let the Cleaner select less by namespace, labelFilters or matchConditions, or make its script faster, or divide it into several Cleaners.",
		},
		"after one that failed": {
			suspended,
			[]v1alpha1.ResourceSelector{pod, job},
			[]selector.Selection{broken, cut(2, suspended)},
			"the Cleaner was suspended after 0 of 2 selectors; the run had judged 2 objects of kind Job (resourceSelectors[1]), and the list was not read to its end.",
		},
		"no list": {
			late,
			[]v1alpha1.ResourceSelector{pod},
			[]selector.Selection{{Considered: 3}},
			"activeDeadlineSeconds (40) passed before anything was touched; raise it (at most 3600), or let the Cleaner select less.",
		},
		"suspended after the lists": {suspended, []v1alpha1.ResourceSelector{pod}, []selector.Selection{{Considered: 3}}, "the Cleaner was suspended."},
	} {
		t.Run(name, func(t *testing.T) {
			cleaner := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{ResourcePolicySet: v1alpha1.ResourcePolicySet{ResourceSelectors: c.selectors}}}
			out := &outcomes{decision: &decision{choice: choice{view: &view{selections: c.selections}, incomplete: c.stopped}}}
			if got := (&task{cleaner: cleaner}).stopWords(c.stopped, out); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
