// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

// MaxDuration is after how long a run is stopped before its next object, unless its Cleaner's activeDeadlineSeconds say less.
const MaxDuration = time.Hour

// deadlineError says that a run took too long.
type deadlineError struct{ limit time.Duration }

// Error implements error.
func (e *deadlineError) Error() string {
	return fmt.Sprintf("activeDeadlineSeconds (%d) passed", int64(e.limit/time.Second))
}

// selectLess is what to do about it, apart from more time.
const selectLess = "let the Cleaner select less"

// wayOut says what to do about it. less is how the Cleaner can do with less time.
func (e *deadlineError) wayOut(less string) string {
	if e.limit >= MaxDuration {
		return less + ", or divide it into several"
	}
	return fmt.Sprintf("raise it (at most %d), or %s", int64(MaxDuration/time.Second), less)
}

// deadlineOf is how long a run of the Cleaner may take.
func deadlineOf(cleaner *v1alpha1.Cleaner) time.Duration {
	seconds := cleaner.Spec.ActiveDeadlineSeconds
	if seconds == nil || *seconds > int64(MaxDuration/time.Second) {
		return MaxDuration
	}
	return time.Duration(*seconds) * time.Second
}

// limit ends a context after so much time, by the clock, with the cause given.
func limit(ctx context.Context, clk clock.WithDelayedExecution, left time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if left <= 0 {
		cancel(cause)
		return ctx, func() { cancel(nil) }
	}
	timer := clk.AfterFunc(left, func() { cancel(cause) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// limitRun ends a context when the run's time is over. That counts from the run's start, whoever carried it out since.
func limitRun(ctx context.Context, clk clock.WithDelayedExecution, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun) (context.Context, context.CancelFunc) {
	return limit(ctx, clk, timeLeft(cleaner, record, clk.Now()), &deadlineError{deadlineOf(cleaner)})
}

// timeLeft is how much of its time a run has left.
func timeLeft(cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, now time.Time) time.Duration {
	return deadlineOf(cleaner) - now.Sub(startOf(record))
}

// startOf is when the time of a run began to count.
func startOf(record *v1alpha1.CleanerRun) time.Time {
	if record.Status.StartTime == nil {
		return record.Spec.NominalTime.Time
	}
	return record.Status.StartTime.Time
}

// stopReason is the reason for which a run ends that was stopped by this cause.
func stopReason(stopped error) string {
	if late := (*deadlineError)(nil); errors.As(stopped, &late) {
		return v1alpha1.ReasonDeadlineExceeded
	}
	if isStop(stopped) {
		return v1alpha1.ReasonActingStopped
	}
	return v1alpha1.ReasonFailed
}

// isStop reports whether a run was stopped because acting is off.
func isStop(stopped error) bool {
	var off *stop.Error
	return errors.As(stopped, &off)
}

// stopWords say why a run was stopped. How far it had come is said of one that took too long, and of one that was in the middle of a
// list: what its counts say is not of all objects.
func (t *task) stopWords(stopped error, out *outcomes) string {
	v := out.decision.view
	at := slices.IndexFunc(v.selections, func(s selector.Selection) bool { return s.Err != nil && isCut(s.Err, stopped) })
	selectors := t.cleaner.Spec.ResourcePolicySet.ResourceSelectors
	switch {
	case at < 0:
		return stopWords(stopped, cameTo(out), selectLess)
	case stopReason(stopped) == v1alpha1.ReasonDeadlineExceeded:
		return stopWords(stopped, v.judgedOf(at, selectors), readLess(selectors[at]))
	}
	return fmt.Sprintf("%s %s.", stopped, v.judgedOf(at, selectors))
}

// judgedOf says how far a run had come that was stopped in the list of a selector.
func (v *view) judgedOf(at int, selectors []v1alpha1.ResourceSelector) string {
	judged := fmt.Sprintf("judged %s of kind %s", objects(v.selections[at].Considered), selectors[at].Kind)
	if len(selectors) > 1 {
		done := 0
		for _, selection := range v.selections {
			if selection.Err == nil {
				done++
			}
		}
		judged = fmt.Sprintf("done %d of %d selectors, had %s (resourceSelectors[%d])", done, len(selectors), judged, at)
	}
	return "when the run had " + judged + ", and had not come to the end of the list"
}

// readLess says how the list of a selector takes less time.
func readLess(spec v1alpha1.ResourceSelector) string {
	if spec.Evaluate == "" {
		return selectLess + " by namespace or labelFilters"
	}
	return selectLess + " by namespace, labelFilters or matchConditions, or make its script faster"
}

// stopWords say why a run was stopped and, if that was because it took too long, how far it had come and what to do about it: less is how
// it can do with less time.
func stopWords(stopped error, cameTo, less string) string {
	late := (*deadlineError)(nil)
	switch {
	case isStop(stopped):
		return fmt.Sprintf("%s. The next run after kubectl cleaner resume deals with what it did not come to.", stopped)
	case !errors.As(stopped, &late):
		return stopped.Error() + "."
	}
	return fmt.Sprintf("%s %s; %s.", late, cameTo, late.wayOut(less))
}

// cameTo says how far a run had come that was stopped.
func cameTo(out *outcomes) string {
	var wanted, left int
	for i := range out.list {
		if out.list[i].Act {
			wanted++
		}
		if interrupted(out.list[i]) {
			left++
		}
	}
	if out.whyIncomplete() != nil || out.fault != nil || left == wanted {
		return "before anything was touched"
	}
	return fmt.Sprintf("when the run had come to %d of %s", wanted-left, objects(int64(wanted)))
}

// awayWords say that the API server did not answer when the run was stopped.
func awayWords(incomplete error) string {
	if tried := (*selector.TriedError)(nil); errors.As(incomplete, &tried) && tried.Stopped != nil {
		return " The API server did not answer: " + oneLine(tried) + "."
	}
	return ""
}

// isCut reports whether an error only says that the run was stopped meanwhile.
func isCut(err, stopped error) bool {
	return errors.Is(err, stopped) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// tooLate says why a run is not gone on with: by its next nominal time, the next run judges everything anew.
func tooLate(cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun, now time.Time) string {
	deadline := startOf(record).Add(MaxDuration)
	if next := cleaner.Status.NextScheduleTime; next != nil && next.After(record.Spec.NominalTime.Time) && next.Time.Before(deadline) {
		deadline = next.Time
	}
	switch {
	case cleaner.Spec.ResourcePolicySet.AggregatedSelection != "": // an object that did not change may be in use by now
		return "what was judged together with other objects must be judged again; the next run does"
	case slices.ContainsFunc(cleaner.Spec.ResourcePolicySet.ResourceSelectors, func(s v1alpha1.ResourceSelector) bool {
		return s.WantsEvents() || s.WantsMetrics() || s.LogSource != nil
	}): // they change without the object
		return "what was judged by its events, metrics or logs must be judged again; the next run does"
	case now.Before(deadline):
		return ""
	}
	return fmt.Sprintf("it was too late to go on: the recovery deadline was %s", deadline.UTC().Format(time.RFC3339))
}
