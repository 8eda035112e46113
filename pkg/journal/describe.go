// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"cmp"
	"iter"
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

const (
	// maxRunBytes bounds the list in a CleanerRun: etcd takes at most 1.5 MiB at once.
	maxRunBytes = 256 << 10
	// maxActingBytes bounds it while the run acts: etcd writes the whole record with each progress then.
	maxActingBytes = 32 << 10
)

// examples is how many objects of each outcome are listed before all of a rarer one. Messages name 20.
const examples = 20

// Describe puts the outcomes, counted and listed as far as they fit, into the run's status. more are only counted.
func Describe(run *v1alpha1.CleanerRun, considered int64, outcomes []stage.Outcome, more ...iter.Seq[stage.Outcome]) {
	describe(run, maxRunBytes, considered, outcomes, more...)
}

func describe(
	run *v1alpha1.CleanerRun,
	room int,
	considered int64,
	outcomes []stage.Outcome,
	more ...iter.Seq[stage.Outcome],
) {
	status, all, total := &run.Status, tallies{}, int64(0)
	status.RunCounts = v1alpha1.RunCounts{Considered: considered}
	add := func(outcome *stage.Outcome) {
		count(&status.RunCounts, run.Spec.Action, outcome)
		all.add(outcome, outcome.Result, 1)
		total++
	}
	for i := range outcomes {
		add(&outcomes[i])
	}
	for _, seq := range more {
		for outcome := range seq {
			add(&outcome)
		}
	}
	list(status, room, all, total, len(outcomes), func(i int) v1alpha1.ObjectOutcome { return entryOf(&outcomes[i]) })
}

// apart divides outcomes into those of objects that are left alone, and of those that are planned.
func apart(outcomes []stage.Outcome) (left []stage.Outcome, planned iter.Seq[stage.Outcome]) {
	for i := range outcomes {
		if outcomes[i].Result != v1alpha1.OutcomePlanned {
			left = append(left, outcomes[i])
		}
	}
	return left, func(yield func(stage.Outcome) bool) {
		for i := range outcomes {
			if outcomes[i].Result == v1alpha1.OutcomePlanned && !yield(outcomes[i]) {
				return
			}
		}
	}
}

// describeActing is Describe for a run that begins to act. What it is going to touch is in its intent, and only counted
// here. What it leaves alone is listed: nowhere else is that written down, should the run be cut off.
func describeActing(run *v1alpha1.CleanerRun, considered int64, outcomes []stage.Outcome) {
	left, planned := apart(outcomes)
	describe(run, maxActingBytes, considered, left, planned)
}

// Settle puts the outcomes of the victims into the status of a run that was taken over, which so far only counts them,
// as Planned.
func Settle(run *v1alpha1.CleanerRun, outcomes []stage.Outcome) {
	status := &run.Status
	total, all := int64(len(status.Objects))+status.ObjectsOmitted, talliesOf(status)
	status.Matched -= int64(len(outcomes)) // counted as planned
	for i := range outcomes {
		count(&status.RunCounts, run.Spec.Action, &outcomes[i])
		all.add(&outcomes[i], v1alpha1.OutcomePlanned, -1)
		all.add(&outcomes[i], outcomes[i].Result, 1)
	}
	others := status.Objects // as far as they are known
	list(status, maxRunBytes, all, total, len(others)+len(outcomes), func(i int) v1alpha1.ObjectOutcome {
		if i < len(others) {
			return others[i]
		}
		return entryOf(&outcomes[i-len(others)])
	})
}

// list lists as many of n entries as fit into so many bytes, of total, and how many there are of each sort when those
// are not all.
func list(
	status *v1alpha1.CleanerRunStatus,
	room int,
	all tallies,
	total int64,
	n int,
	entry func(int) v1alpha1.ObjectOutcome,
) {
	status.Objects, status.Tallies = fitting(room, n, entry), nil
	if status.ObjectsOmitted = total - int64(len(status.Objects)); status.ObjectsOmitted > 0 {
		status.Tallies = all.largest()
	}
}

func entryOf(outcome *stage.Outcome) v1alpha1.ObjectOutcome {
	return v1alpha1.ObjectOutcome{
		APIVersion: outcome.Kind.APIVersion(), Kind: outcome.Kind.Kind,
		Namespace: outcome.Namespace, Name: outcome.Name, UID: outcome.UID,
		Outcome: outcome.Result, Reason: v1alpha1.Printable(outcome.Detail), Message: v1alpha1.Printable(outcome.Message),
	}
}

// fitting are the entries that there is room for. When that is not all, failures come first, then some of each outcome,
// and then those whose outcome is the rarest: nobody needs to read 3,000 times what is as it should be, the one
// object that was left alone must not be missing, and there is an example of everything.
func fitting(maxBytes, n int, entry func(int) v1alpha1.ObjectOutcome) []v1alpha1.ObjectOutcome {
	var list []v1alpha1.ObjectOutcome
	room := maxBytes
	for i := range n {
		e := entry(i)
		if room -= e.Size(); room < 0 {
			break
		}
		list = append(list, e)
	}
	if len(list) == n {
		return list
	}
	list, room = list[:0], maxBytes
	for _, i := range mostNotable(n, entry) {
		e := entry(int(i))
		if e.Size() <= room {
			room -= e.Size()
			list = append(list, e)
		}
	}
	return list
}

// MostNotable are n of the objects that a record lists, the same as it would list were there room for no more.
func MostNotable(objects []v1alpha1.ObjectOutcome, n int) []v1alpha1.ObjectOutcome {
	if len(objects) <= n {
		return objects
	}
	list := make([]v1alpha1.ObjectOutcome, 0, n)
	for _, i := range mostNotable(len(objects), func(i int) v1alpha1.ObjectOutcome { return objects[i] })[:n] {
		list = append(list, objects[i])
	}
	return list
}

// mostNotable are the indexes of n entries, the most notable first.
func mostNotable(n int, entry func(int) v1alpha1.ObjectOutcome) []int32 {
	order, times := make([]int32, n), map[v1alpha1.OutcomeResult]int{}
	results, turns := make([]v1alpha1.OutcomeResult, n), make([]int8, n)
	for i := range order {
		result := entry(i).Outcome
		order[i], results[i] = int32(i), result
		switch {
		case result.IsFailure(), result == v1alpha1.OutcomeNotEvaluated:
		case times[result] < examples:
			turns[i] = 1
		default:
			turns[i] = 2
		}
		times[result]++
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		if turn := cmp.Compare(turns[a], turns[b]); turn != 0 || turns[a] == 0 {
			return turn
		}
		return cmp.Compare(times[results[a]], times[results[b]])
	})
	return order
}

func count(counts *v1alpha1.RunCounts, action v1alpha1.Action, outcome *stage.Outcome) {
	switch outcome.Result {
	case v1alpha1.OutcomeNotEvaluated:
		counts.Failed++
		return
	case v1alpha1.OutcomeUnknown:
		counts.Skipped++
		return
	}
	counts.Matched++
	switch {
	case outcome.Result == v1alpha1.OutcomeMatched,
		outcome.Result == v1alpha1.OutcomeDryRun,
		outcome.Result == v1alpha1.OutcomePlanned:
	case outcome.Handled(action):
		counts.Acted++
		if action == v1alpha1.ActionDelete && outcome.Result != v1alpha1.OutcomeGone { // somebody else deleted that
			counts.FreedBytes += outcome.VolumeBytes
		}
	case outcome.Result.IsFailure():
		counts.Failed++
	default:
		counts.Skipped++
	}
}
