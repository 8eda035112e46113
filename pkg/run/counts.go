// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"sync"
	"time"

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

// stored are the counts as the cluster has them, and the run that was counted last.
type stored struct {
	counts  guard.Counts
	counted string
}

// saveEnded saves that the counts of what a decision does not find any more have ended. It returns what is stored then.
// Without that, nothing is touched.
func (s Record) saveEnded(ctx context.Context, t *task, d *decision) (*stored, error) {
	if d.counts == nil {
		return nil, nil
	}
	still, all := d.view.counts.Still(d.counts)
	now := &stored{still, d.view.counted}
	if all {
		return now, nil
	}
	return now, s.Journal.SaveCounts(ctx, t.cleaner, still, now.counted)
}

// saveCounts saves in how many runs each object has matched. Without that, nothing is touched.
func (s Record) saveCounts(ctx context.Context, t *task, in *intent) *intent {
	if in.stored == nil || in.left || in.fault != nil || in.incomplete != nil {
		return in
	}
	saved, lost := *in, in.ended.take()
	now := &stored{in.decision.counts.Without(lost), t.record.Name}
	if saved.fault = s.Journal.SaveCounts(ctx, t.cleaner, now.counts, now.counted); saved.fault == nil {
		saved.stored = now
		return &saved
	}
	in.ended.putBack(lost)
	saved.left = isCause(ctx, s.Stopping)
	return &saved
}

// ended are the keys of counts that ended after they were decided by. It is safe for concurrent use. A nil one takes
// none.
type ended struct {
	// isCounted reports whether there is a count.
	isCounted func(key string) bool
	mu        sync.Mutex
	keys      map[string]bool
}

// ending is for what may end of the decision's counts. Nil if there are none.
func (d *decision) ending() *ended {
	if d.counts == nil {
		return nil
	}
	return &ended{isCounted: func(key string) bool { _, is := d.counts[key]; return is }}
}

// ending is for what may end of the counts of a Cleaner whose run is taken over. Nil if it keeps none.
func ending(cleaner *v1alpha1.Cleaner) *ended {
	if !cleaner.KeepsCounts() {
		return nil
	}
	return &ended{isCounted: func(string) bool { return true }}
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
		if e.isCounted(key) {
			e.keys[key] = true
		}
	}
}

// putBack takes keys that were taken, and not saved.
func (e *ended) putBack(keys map[string]bool) {
	if e != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		maps.Copy(e.keys, keys) // take has made the map
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
	e.keys = map[string]bool{}
	return keys
}

// saveLost saves that the counts have ended of what was not found any more after the decision. It tries for a while,
// also when the run was stopped.
func (s Record) saveLost(ctx context.Context, t *task, out *outcomes) {
	lost := out.ended.take()
	if len(lost) == 0 || out.stored == nil || errors.Is(out.stopped, journal.ErrTaken) {
		return
	}
	s.savePatiently(ctx, func(ctx context.Context) error {
		return s.Journal.SaveCounts(ctx, t.cleaner, out.stored.counts.Without(lost), out.stored.counted)
	})
}

// saveLostOf does the same for a run that was taken over, from the counts in the cluster.
func (r *Runner) saveLostOf(ctx context.Context, cleaner *v1alpha1.Cleaner, left *leftover, memory *selector.Share) {
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

// stopPatience is how long an operator that stops tries to save counts.
const stopPatience = 3 * time.Second

// savePatiently tries for a while.
func (s Record) savePatiently(ctx context.Context, save func(context.Context) error) {
	var err error
	tried := func(ctx context.Context) (bool, error) { err = save(ctx); return err == nil, nil }
	patience := journal.SaveTimeout
	if isCause(ctx, s.Stopping) {
		patience = stopPatience
	}
	ctx = context.WithoutCancel(ctx)
	if wait.PollUntilContextTimeout(ctx, journal.SaveRetry, patience, true, tried) != nil {
		klog.FromContext(ctx).Error(err, "Could not end the counts of objects that no longer match")
	}
}
