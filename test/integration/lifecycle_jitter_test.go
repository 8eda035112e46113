// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// jitterOf is by how much the Cleaner's runs start later, as its status says.
func (l *life) jitterOf() time.Duration {
	l.t.Helper()
	message := meta.FindStatusCondition(l.now.Status.Conditions, v1alpha1.ConditionReady).Message
	_, rest, _ := strings.Cut(message, "Each run starts ")
	text, _, found := strings.Cut(rest, " later (--jitter-window).")
	jitter, err := time.ParseDuration(text)
	if !found || err != nil {
		l.t.Fatalf("the status says %q: %v", message, err)
	}
	return jitter
}

// TestJitterOnlyDelays: never early, always by the same, and the nominal time stays what the schedule says.
func TestJitterOnlyDelays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.reconciler.JitterWindow = time.Minute
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	l.startExecutor()
	first := l.first()
	l.step()
	jitter := l.jitterOf()
	if jitter <= 0 || jitter >= time.Minute {
		t.Fatalf("the jitter is %s", jitter)
	}
	l.at(first.Add(jitter - time.Millisecond))
	l.wantActive(time.Time{})
	l.wantNext(first)
	l.wantRequeue(time.Millisecond)
	l.at(first.Add(jitter))
	l.wantActive(first)
	l.finish()
	l.wantRecords(first)
	l.wantNext(first.Add(day))
	again := l.successor()
	again.reconciler.JitterWindow = time.Minute
	again.step()
	if again.jitterOf() != jitter {
		t.Fatalf("after a restart the jitter is %s, before %s", again.jitterOf(), jitter)
	}
	l.ask("now") // is not delayed
	l.at(first.Add(time.Hour))
	l.wantActive(first.Add(time.Hour))
	l.finish()
}

// TestManualRunInTheSecondOfADelayedOne takes the next second: the delayed run has its name from when it was due.
func TestManualRunInTheSecondOfADelayedOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.reconciler.JitterWindow = time.Hour
	l := b.follow(b.cleaner(v1alpha1.ActionScan))
	l.startExecutor()
	l.step()
	first, jitter := l.first(), l.jitterOf()
	l.ask("now")
	l.at(first.Add(300 * time.Millisecond))
	l.wantActive(time.Time{})
	l.wantHandled("")
	l.wantRequeue(700 * time.Millisecond)
	l.at(first.Add(time.Second))
	l.wantHandled("now")
	l.finish()
	l.wantRecords(first.Add(time.Second))
	l.wantNext(first)
	l.at(first.Add(jitter))
	l.wantActive(first)
	l.finish()
	l.wantRecords(first, first.Add(time.Second))
	l.wantNext(first.Add(day))
}

// TestJitterLeavesTimeToStart: a run is not missed because it was delayed.
func TestJitterLeavesTimeToStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.reconciler.JitterWindow = time.Hour
	l := b.follow(b.cleaner(v1alpha1.ActionScan, func(c *v1alpha1.Cleaner) { c.Spec.StartingDeadlineSeconds = ptr.To(int64(10)) }))
	l.startExecutor()
	l.step()
	first := l.first()
	jitter := l.jitterOf()
	if jitter >= 5*time.Second {
		t.Fatalf("the jitter is %s of a deadline of 10 s", jitter)
	}
	l.at(first.Add(jitter))
	l.finish()
	l.wantRecords(first)
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted)
}

// TestJitterSpreads Cleaners over the window.
func TestJitterSpreads(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.reconciler.JitterWindow = 10 * time.Second
	seen := map[string]bool{}
	for range 12 {
		l := b.follow(b.cleaner(v1alpha1.ActionScan))
		l.step()
		seen[fmt.Sprint(l.jitterOf().Truncate(time.Second))] = true
	}
	if len(seen) < 4 {
		t.Fatalf("12 Cleaners start in %d different seconds of 10", len(seen))
	}
}
