// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
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

// limit ends a context after so much time, by the Runner's clock, with the cause given.
func (r *Runner) limit(ctx context.Context, left time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if left <= 0 {
		cancel(cause)
		return ctx, func() { cancel(nil) }
	}
	timer := r.Clock.AfterFunc(left, func() { cancel(cause) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// limitRun ends a context when the run's time is over. That counts from the run's start, whoever carried it out since.
func (r *Runner) limitRun(ctx context.Context, cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun) (context.Context, context.CancelFunc) {
	return r.limit(ctx, r.left(cleaner, record), &deadlineError{deadlineOf(cleaner)})
}

// left is how much of its time a run has left.
func (r *Runner) left(cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun) time.Duration {
	return deadlineOf(cleaner) - r.Clock.Since(startOf(record))
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
	return v1alpha1.ReasonFailed
}

// stopWords say why a run was stopped. How far it had come is said of one that took too long, and of one that was in the middle of a
// list: what its counts say is not of all objects.
func (p *plan) stopWords(stopped error, outcomes []object.Outcome, err error) string {
	at := slices.IndexFunc(p.selections, func(s selector.Selection) bool { return s.Err != nil && isCut(s.Err, stopped) })
	switch {
	case at < 0:
		return stopWords(stopped, cameTo(p, outcomes, err), selectLess, p.waited())
	case stopReason(stopped) == v1alpha1.ReasonDeadlineExceeded:
		return stopWords(stopped, p.judgedOf(at), p.readLess(at), p.waited())
	}
	return fmt.Sprintf("%s %s.", stopped, p.judgedOf(at))
}

// judgedOf says how far a run had come that was stopped in the list of a selector.
func (p *plan) judgedOf(at int) string {
	selectors := p.cleaner.Spec.ResourcePolicySet.ResourceSelectors
	judged := fmt.Sprintf("judged %s of kind %s", objects(p.selections[at].Considered), selectors[at].Kind)
	if len(selectors) > 1 {
		done := 0
		for _, selection := range p.selections {
			if selection.Err == nil {
				done++
			}
		}
		judged = fmt.Sprintf("done %d of %d selectors, had %s (resourceSelectors[%d])", done, len(selectors), judged, at)
	}
	return "when the run had " + judged + ", and had not come to the end of the list"
}

// readLess says how the list of a selector takes less time.
func (p *plan) readLess(at int) string {
	if p.cleaner.Spec.ResourcePolicySet.ResourceSelectors[at].Evaluate == "" {
		return selectLess + " by namespace or labelFilters"
	}
	return selectLess + " by namespace, labelFilters or matchConditions, or make its script faster"
}

// stopWords say why a run was stopped and, if that was because it took too long, how far it had come and what to do about it: less is how
// it can do with less time. Waited is for how long of its time it waited for others.
func stopWords(stopped error, cameTo, less string, waited time.Duration) string {
	late := (*deadlineError)(nil)
	if !errors.As(stopped, &late) {
		return stopped.Error() + "."
	}
	if waited >= time.Second {
		return fmt.Sprintf("%s %s. For %s of that it waited for memory for its scripts, which other runs had: raise --max-script-memory, or the deadline (at most %d).",
			late, cameTo, waited.Round(100*time.Millisecond), int64(MaxDuration/time.Second))
	}
	return fmt.Sprintf("%s %s; %s.", late, cameTo, late.wayOut(less))
}

// cameTo says how far a run had come that was stopped.
func cameTo(plan *plan, outcomes []object.Outcome, err error) string {
	var wanted, left int
	for i := range outcomes {
		if outcomes[i].Act {
			wanted++
		}
		if interrupted(outcomes[i]) {
			left++
		}
	}
	if plan.incomplete != nil || err != nil || left == wanted {
		return "before anything was touched"
	}
	return fmt.Sprintf("when the run had come to %d of %s", wanted-left, objects(int64(wanted)))
}

// waited is for how long the run waited for memory for its scripts.
func (p *plan) waited() time.Duration {
	if p.expressions == nil {
		return 0
	}
	waited, _ := p.expressions.session.Waited()
	return waited
}

// isCut reports whether an error only says that the run was stopped meanwhile.
func isCut(err, stopped error) bool {
	return errors.Is(err, stopped) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// tooLate says why a run is not gone on with: by its next nominal time, the next run judges everything anew.
func (r *Runner) tooLate(cleaner *v1alpha1.Cleaner, record *v1alpha1.CleanerRun) string {
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
	case r.Clock.Now().Before(deadline):
		return ""
	}
	return fmt.Sprintf("it was too late to go on: the recovery deadline was %s", deadline.UTC().Format(time.RFC3339))
}

// limit ends a context when the run's time is over. When it is over already, nothing more is touched; looking may take its time.
func (m *remainder) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if m.cleaner == nil || m.closing != "" {
		return context.WithCancel(ctx)
	}
	if m.runner.left(m.cleaner, m.record) <= 0 {
		m.close(&deadlineError{deadlineOf(m.cleaner)})
		return context.WithCancel(ctx)
	}
	return m.runner.limitRun(ctx, m.cleaner, m.record)
}

// close makes the rest be looked at only.
func (m *remainder) close(cause error) {
	m.closing, m.closingErr = cause.Error(), nil
	errors.As(cause, &m.late)
}

func (m *remainder) stopReason() string {
	if m.late != nil {
		return v1alpha1.ReasonDeadlineExceeded
	}
	return v1alpha1.ReasonFailed
}
