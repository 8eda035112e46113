// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/recheck"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// Counts are saved in two steps. What a run does not find any more is saved right after its decision, before anything
// else can fail. What it counts is saved before it acts. So a run that is cut off may not count, and then objects wait
// longer than they must, and never less.

// wait leaves out the objects that have not matched in enough consecutive runs, or have not been found so for long
// enough. An incomplete view counts nothing, and counts that could not be read let everything wait.
func (d *decision) wait(t *task) {
	threshold := int64(ptr.Deref(t.cleaner.Spec.OccurrenceThreshold, 1))
	if t.preview || !t.cleaner.KeepsCounts() {
		return
	}
	counts, err := d.countAll(t, threshold)
	if d.view.counted == t.record.Name { // this run was counted before it was cut off
		counts, _ = d.view.counts.Still(counts)
	}
	if d.incomplete = err; err == nil {
		d.counts = counts
	}
	for i, verdict := range d.matched.All() {
		if d.rulings[i] != nil {
			continue
		}
		seldom := threshold > 1 && counts[guard.CountKey(verdict.Object)] < threshold
		if d.view.countsFault != nil || seldom || d.view.findings.Waits(counts, verdict.Candidate) {
			d.rulings[i] = waits
			d.waiting++
		}
	}
}

// countAll counts this run among those in which the objects matched. Without enough memory, it counts nothing, and the
// error is why nothing is touched.
func (d *decision) countAll(t *task, threshold int64) (guard.Counts, error) {
	keys := make([]string, 0, d.matched.Len())
	for i, verdict := range d.matched.All() {
		if d.rulings[i] == nil && threshold > 1 {
			keys = append(keys, guard.CountKey(verdict.Object))
		}
	}
	n := len(keys) + d.view.findings.Adds()
	if err := t.engine.Memory.Take(countSize * n); err != nil {
		return nil, errors.Join(d.incomplete, fmt.Errorf("not enough memory for the counts of %d objects: %w", n, err))
	}
	counts := d.view.counts.Seen(keys, threshold)
	d.view.findings.Count(counts)
	return counts, d.incomplete
}

// saveEnded saves that the counts of what a decision does not find any more have ended. Without that, nothing is
// touched.
func (s Record) saveEnded(ctx context.Context, t *task, d *decision) error {
	if d.counts == nil {
		return nil
	}
	still, all := d.view.counts.Still(d.counts)
	if all {
		return nil
	}
	return s.Journal.SaveCounts(ctx, t.cleaner, still, d.view.counted)
}

// saveCounts saves in how many runs each object has matched. Without that, nothing is touched.
func (s Record) saveCounts(ctx context.Context, t *task, in *intent) *intent {
	if in.decision == nil || in.decision.counts == nil || in.left || in.fault != nil || in.incomplete != nil {
		return in
	}
	saved := *in
	saved.counts = in.decision.counts.Without(in.ended.take())
	saved.fault = s.Journal.SaveCounts(ctx, t.cleaner, saved.counts, t.record.Name)
	saved.left = saved.fault != nil && isCause(ctx, s.Stopping)
	return &saved
}

// ended are the keys of counts that ended after they were decided by. It is safe for concurrent use. A nil one takes
// none.
type ended struct {
	mu   sync.Mutex
	keys map[string]bool
}

// endedOf is for the counts of a Cleaner, if it keeps any.
func endedOf(cleaner *v1alpha1.Cleaner) *ended {
	if !cleaner.KeepsCounts() {
		return nil
	}
	return &ended{}
}

// note takes note of what a new decision on candidates ends: the counts of those that it leaves alone, and of what the
// first survey had found and this one does not.
func (e *ended) note(of iter.Seq[stage.Candidate], left recheck.Left, first, now *survey.Findings) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.add(first.Ended(now))
	for c := range of {
		if left(c) != "" {
			e.add([]string{guard.CountKey(c.Object)})
			e.add(now.EndedOf(c))
		}
	}
}

func (e *ended) add(keys []string) {
	if e.keys == nil {
		e.keys = map[string]bool{}
	}
	for _, key := range keys {
		e.keys[key] = true
	}
}

// take returns the keys, and forgets them.
func (e *ended) take() map[string]bool {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	keys := e.keys
	e.keys = nil
	return keys
}

// saveLost saves that the counts have ended of what was not found any more while the run acted. It tries for a while,
// also when the run was stopped.
func (s Record) saveLost(ctx context.Context, t *task, out *outcomes) {
	lost := out.ended.take()
	if len(lost) == 0 || out.counts == nil || errors.Is(out.stopped, journal.ErrTaken) {
		return
	}
	s.savePatiently(ctx, func(ctx context.Context) error {
		return s.Journal.SaveCounts(ctx, t.cleaner, out.counts.Without(lost), t.record.Name)
	})
}

// forgetLost does the same for a run that was taken over, by the counts as they are.
func (r *Runner) forgetLost(ctx context.Context, cleaner *v1alpha1.Cleaner, left *leftover, memory *selector.Share) {
	lost := left.ended.take()
	if len(lost) == 0 || cleaner == nil || r.Read.Counts == nil {
		return
	}
	r.Record.savePatiently(ctx, func(ctx context.Context) error {
		before, counted, err := r.Read.Counts(ctx, cleaner)
		if err == nil {
			err = memory.Take(countSize * len(before))
		}
		if err != nil {
			return err
		}
		defer memory.GiveBack(int64(countSize * len(before)))
		now := guard.Counts(before).Without(lost)
		if len(now) == len(before) {
			return nil
		}
		return r.Record.Journal.SaveCounts(ctx, cleaner, now, counted)
	})
}

// savePatiently tries for a while.
func (s Record) savePatiently(ctx context.Context, save func(context.Context) error) {
	var err error
	tried := func(ctx context.Context) (bool, error) { err = save(ctx); return err == nil, nil }
	ctx = context.WithoutCancel(ctx)
	if wait.PollUntilContextTimeout(ctx, journal.SaveRetry, journal.SaveTimeout, true, tried) != nil {
		klog.FromContext(ctx).Error(err, "Could not save that the counts of objects have ended that the run did not find any more")
	}
}
