// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package deadline says how long a run may take, and stops one that takes longer.
package deadline

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Max is after how long a run is stopped before its next object, unless its Cleaner's activeDeadlineSeconds say less.
const Max = time.Hour

// Error says that a run took too long.
type Error struct{ Limit time.Duration }

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("activeDeadlineSeconds (%d) passed", int64(e.Limit/time.Second))
}

// WayOut says what to do about it. less is how the Cleaner can do with less time.
func (e *Error) WayOut(less string) string {
	if e.Limit >= Max {
		return less + ", or divide it into several Cleaners"
	}
	return fmt.Sprintf("raise it (at most %d), or %s", int64(Max/time.Second), less)
}

// SelectLess is how a Cleaner can do with less time.
const SelectLess = "let the Cleaner select less"

// ReadLess is how the list of a selector takes less time.
func ReadLess(spec v1alpha1.ResourceSelector) string {
	if spec.Evaluate == "" {
		return SelectLess + " by namespace or labelFilters"
	}
	return SelectLess + " by namespace, labelFilters or matchConditions, or make its script faster"
}

// Of is how long a run of the Cleaner may take.
func Of(cleaner *v1alpha1.Cleaner) time.Duration {
	seconds := cleaner.Spec.ActiveDeadlineSeconds
	if seconds == nil || *seconds > int64(Max/time.Second) {
		return Max
	}
	return time.Duration(*seconds) * time.Second
}

// Limit ends a context, with an Error as its cause, when nothing is left of the limit.
func Limit(
	ctx context.Context,
	clk clock.WithDelayedExecution,
	limit, left time.Duration,
) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if left <= 0 {
		cancel(&Error{limit})
		return ctx, func() { cancel(nil) }
	}
	timer := clk.AfterFunc(left, func() { cancel(&Error{limit}) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// LimitRun ends a context when the run's time is over. That counts from the run's start, whoever carried it out since.
func LimitRun(
	ctx context.Context,
	clk clock.WithDelayedExecution,
	cleaner *v1alpha1.Cleaner,
	record *v1alpha1.CleanerRun,
) (context.Context, context.CancelFunc) {
	return Limit(ctx, clk, Of(cleaner), Left(cleaner, record, clk.Now()))
}

// Left is how much of its time a run has left: not more than all of it, also when the clock went back since it began.
func Left(cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, now time.Time) time.Duration {
	return Of(cleaner) - max(0, now.Sub(startOf(record)))
}

// startOf is when the time of a run began to count.
func startOf(record *v1alpha1.CleanerRun) time.Time {
	if record.Status.StartTime == nil {
		return record.Spec.NominalTime.Time
	}
	return record.Status.StartTime.Time
}

// ForResuming says why a run that was cut off does not continue: by its next nominal time, the next run judges
// everything anew. Empty if it does.
func ForResuming(cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, now time.Time) string {
	deadline := startOf(record).Add(Max)
	if next := cleaner.Status.NextScheduleTime; next != nil && next.After(record.Spec.NominalTime.Time) &&
		next.Time.Before(deadline) {
		deadline = next.Time
	}
	if now.Before(deadline) {
		return ""
	}
	return fmt.Sprintf("it was too late: a run is resumed only until the Cleaner's next scheduled time, and at most one hour after its start (here: until %s)", deadline.UTC().Format(time.RFC3339))
}
