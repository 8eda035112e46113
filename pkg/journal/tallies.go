// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"cmp"
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// maxTallies bounds the tallies of a record, some 120 bytes each.
const maxTallies = 200

// tallies count objects by what they have in common: the key has no count.
type tallies map[v1alpha1.ObjectTally]int64

func (t tallies) add(outcome *stage.Outcome, result v1alpha1.OutcomeResult, n int64) {
	tally := v1alpha1.ObjectTally{
		APIVersion: outcome.Kind.APIVersion(), Kind: outcome.Kind.Kind, Namespace: outcome.Namespace, Outcome: result,
	}
	if result == v1alpha1.OutcomePlanned { // the record of a run that acts is small: the intent has the namespaces
		tally.Namespace = ""
	}
	t[tally] += n
}

// Tallies are how many objects of each kind and namespace the record of a run says had which outcome.
func Tallies(run *v1alpha1.CleanerRun) []v1alpha1.ObjectTally {
	var list []v1alpha1.ObjectTally
	for tally, n := range talliesOf(&run.Status) {
		tally.Count = n
		list = append(list, tally)
	}
	return list
}

// talliesOf are those of a record: what it counted, or what it lists when that is all.
func talliesOf(status *v1alpha1.CleanerRunStatus) tallies {
	all := tallies{}
	for _, tally := range status.Tallies {
		n := tally.Count
		tally.Count = 0
		all[tally] += n
	}
	if status.ObjectsOmitted > 0 {
		return all
	}
	for _, o := range status.Objects {
		all[v1alpha1.ObjectTally{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Outcome: o.Outcome}]++
	}
	return all
}

// largest are those that there is room for, the most objects first. When not all fit, those of the commonest outcome
// give way: what was left alone, or failed, is reported. Less than none are those that had no room before.
func (t tallies) largest() []v1alpha1.ObjectTally {
	var list []v1alpha1.ObjectTally
	times := map[v1alpha1.OutcomeResult]int64{}
	for tally, n := range t {
		if tally.Count = n; n > 0 {
			list = append(list, tally)
			times[tally.Outcome] += n
		}
	}
	order := func(a, b v1alpha1.ObjectTally) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Outcome, b.Outcome))
	}
	if len(list) > maxTallies {
		slices.SortFunc(list, func(a, b v1alpha1.ObjectTally) int {
			return cmp.Or(cmp.Compare(times[a.Outcome], times[b.Outcome]), order(a, b))
		})
		list = list[:maxTallies]
	}
	slices.SortFunc(list, order)
	return list
}
