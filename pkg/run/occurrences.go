// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// countOccurrences drops the objects that have not matched in enough consecutive runs. An incomplete view counts nothing.
func (r *Runner) countOccurrences(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, plan *plan) error {
	threshold := int64(ptr.Deref(cleaner.Spec.OccurrenceThreshold, 1))
	if threshold <= 1 {
		return nil
	}
	stored, lastRun, err := r.Journal.Counts(ctx, cleaner)
	if err != nil {
		plan.keep(func(object.Object) bool { return false })
		return err
	}
	counts := guard.Counts(stored)
	if lastRun != record.Name { // else this run was counted before it was cut off
		counts = counts.Seen(plan.keys())
		if plan.incomplete == nil {
			plan.counts = counts
		}
	}
	plan.keep(func(o object.Object) bool { return counts[journal.CountKey(o)] >= threshold })
	return nil
}

// keys are what the objects are counted by.
func (p *plan) keys() []string {
	if p.scan != nil {
		return p.scan.keys()
	}
	keys := make([]string, 0, len(p.verdicts))
	for i := range p.verdicts {
		if p.verdicts[i].Act { // else it was not chosen again
			keys = append(keys, journal.CountKey(p.verdicts[i].Object))
		}
	}
	return keys
}

// keep lets those objects wait that are not to be dealt with yet.
func (p *plan) keep(due func(object.Object) bool) {
	if p.scan != nil {
		p.scan.change(func(v object.Verdict) (object.Verdict, bool) {
			if due(v.Object) {
				return v, true
			}
			p.waiting++
			return v, false
		})
		return
	}
	before := len(p.verdicts)
	p.verdicts = slices.DeleteFunc(p.verdicts, func(v object.Verdict) bool { return v.Act && !due(v.Object) })
	p.waiting = before - len(p.verdicts)
}
