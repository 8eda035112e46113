// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"errors"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
)

// sweepEvery is how often the records of all runs are looked through.
const sweepEvery = 10 * time.Minute

// Sweeper drops copies whose time is over, and closes runs that nobody else will: those whose Cleaner is gone.
type Sweeper struct {
	Journal *journal.Journal
	Metrics *metrics.Metrics
	Clock   clock.WithTicker
	// CheckSchema says which fields the API server does not keep: what is written then is written without them.
	CheckSchema func(ctx context.Context) (lacks string, err error)
	// MaxBytes is how much the copies of all runs may take together, in bytes.
	MaxBytes int64
	// Busy reports whether a run of the named Cleaner goes on in this process.
	Busy func(name string) bool
	// Notify sends the notifications of a run that are still to be sent.
	Notify func(run *v1alpha1.CleanerRun)
	// Close brings a run that was cut off to its end without touching anything more.
	Close func(ctx context.Context, run *v1alpha1.CleanerRun)
}

// NeedLeaderElection says that only the leader sweeps.
func (s *Sweeper) NeedLeaderElection() bool { return true }

// Start sweeps now and then until the context ends. A panic must not end the process, which it would do at each start
// anew.
func (s *Sweeper) Start(ctx context.Context) error {
	ticker := s.Clock.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := fault.Logged(ctx, func() error { return s.Sweep(ctx) }); err != nil {
			klog.FromContext(ctx).Error(err, "Could not sweep the records of old runs")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// Sweep looks through the records of all runs once.
func (s *Sweeper) Sweep(ctx context.Context) error {
	if lacks, err := s.CheckSchema(ctx); err != nil || lacks != "" {
		return cmp.Or(err, errors.New(lacks))
	}
	left, err := s.Journal.Sweep(ctx, s.MaxBytes)
	if left.Copies != nil {
		s.Metrics.CopiesKept(left.Copies.Objects, left.Copies.Bytes)
	}
	for i := range left.Unsent {
		if run := &left.Unsent[i]; !s.Busy(run.Spec.Cleaner) || !s.hasJustEnded(run) {
			s.Notify(run)
		}
	}
	for i := range left.Unfinished {
		run := &left.Unfinished[i]
		if s.Busy(run.Spec.Cleaner) {
			continue
		}
		cleaner, findErr := s.Journal.Cleaner(ctx, run.Spec.Cleaner, run.Spec.CleanerUID)
		if findErr == nil && !isExpected(cleaner, run) {
			s.Close(ctx, run)
		}
	}
	return err
}

// hasJustEnded reports whether who carried a run out may still be about to send its notifications, with all objects.
func (s *Sweeper) hasJustEnded(run *v1alpha1.CleanerRun) bool {
	ended := run.Status.CompletionTime
	return ended != nil && s.Clock.Since(ended.Time) < time.Minute
}

// isExpected reports whether a Cleaner's reconciliation is going to bring the run to its end: it is the active one, or
// the one that is due next and was not shown yet (CleanerReconciler.ShowAfter).
func isExpected(cleaner *v1alpha1.Cleaner, run *v1alpha1.CleanerRun) bool {
	if cleaner == nil {
		return false
	}
	active, next := cleaner.Status.ActiveRun, cleaner.Status.NextScheduleTime
	return active != nil && active.Name == run.Name ||
		active == nil && next != nil && run.Spec.NominalTime.Equal(next) && run.Spec.Trigger == v1alpha1.TriggerSchedule
}
