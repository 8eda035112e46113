// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/deadline"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
	"github.com/kubecleaner/kubecleaner/pkg/summary"
)

// remainder is what is left of a run that was cut off.
type remainder struct {
	record *v1alpha1.CleanerRun
	// cleaner is the run's, nil when it is gone or does not wait for the run any more; notifies is the one
	// whose notifications are sent at the end, nil when it is gone.
	cleaner, notifies *v1alpha1.Cleaner
	// cause is the beginning of a sentence: why the run was cut off.
	cause string
	// failed is true when it was by a fault of the operator's.
	failed bool
	// closing says why nothing more is touched. Nil when the run goes on.
	closing error
	// faulty is true when that is a fault, and late is set when it is because the run took too long.
	faulty bool
	late   *deadline.Error
}

// isClosed reports whether nothing more is touched.
func (m *remainder) isClosed() bool { return m.cleaner == nil || m.closing != nil }

// decide says why the run is not resumed, if it is not.
func (m *remainder) decide(ctx context.Context, r *Runner, t *task) {
	if m.isClosed() {
		return
	}
	clock := r.Read.clockFault() // by a wrong clock, nobody knows whether it is too late
	wrong := ""
	if clock != nil {
		wrong = clock.Error()
	}
	late := deadline.ForResuming(m.cleaner, t.record, r.Begin.Clock.Now())
	if why := cmp.Or(r.Check.Identities.Lacks(t.record.Spec.ServiceAccountRef), wrong, late); why != "" {
		m.closing = errors.New(why)
		return
	}
	m.closing = r.Act.Stop.Confirm(ctx)
	m.faulty = m.closing != nil && !isA[*stop.Error](m.closing)
}

// limit ends a context when the run's time is over. When it is over already, nothing more is touched; looking may take
// its time.
func (m *remainder) limit(ctx context.Context, clk clock.WithDelayedExecution) (context.Context, context.CancelFunc) {
	if !m.isClosed() {
		if deadline.Left(m.cleaner, m.record, clk.Now()) > 0 {
			return deadline.LimitRun(ctx, clk, m.cleaner, m.record)
		}
		m.close(&deadline.Error{Limit: deadline.Of(m.cleaner)})
	}
	return context.WithCancel(ctx)
}

// close makes the rest be looked at only.
func (m *remainder) close(cause error) {
	m.closing, m.faulty = cause, false
	errors.As(cause, &m.late)
}

// unreadable is how the run ends when what it was going to touch cannot be read.
func (m *remainder) unreadable(err error) *refusal {
	return &refusal{phase: v1alpha1.RunInterrupted, reason: v1alpha1.ReasonFailed, message: v1alpha1.Truncate(fmt.Sprintf(
		"%s, and what it was going to touch cannot be read: %s. It is not known which of the objects counted as %s were touched.",
		m.cause, summary.OneLine(err), v1alpha1.OutcomePlanned), maxMessage)}
}

// gaveUp is how a run ends that was attempted too often. What it was going to touch is not read: that may be what ends
// the operator.
func gaveUp(record *v1alpha1.CleanerRun) *refusal {
	touched := "Nothing was touched."
	if record.Status.Phase == v1alpha1.RunExecuting {
		touched = fmt.Sprintf("It is not known which of the objects counted as %s were touched.", v1alpha1.OutcomePlanned)
	}
	return &refusal{phase: v1alpha1.RunFailed, reason: v1alpha1.ReasonFailed, message: fmt.Sprintf(
		"The operator stopped %d times during this run, and the run made no progress. Perhaps this run needs too much memory: see the last state of the operator's Pod. The run is not started again. %s",
		journal.MaxAttempts, touched)}
}

// conclude says how the run ended.
func (m *remainder) conclude(outcomes []stage.Outcome) (v1alpha1.RunPhase, string, string) {
	what := "and the run was resumed"
	abandoned := slices.ContainsFunc(outcomes, func(o stage.Outcome) bool {
		return o.Result == v1alpha1.OutcomeAbandoned
	})
	switch {
	case m.closing == nil:
	case m.faulty:
		what = "and the run could not be resumed: " + summary.OneLine(m.closing)
	case !abandoned && !m.failed:
		what = "after it had handled all objects"
	default:
		what = "and the run was not resumed: " + strings.TrimSuffix(summary.OneLine(m.closing), ".")
	}
	if m.late != nil && abandoned {
		what += "; " + m.late.WayOut(deadline.SelectLess)
	}
	phase, reason, failure := m.endsAs(outcomes)
	message := fmt.Sprintf("%s, %s. %s%s", m.cause, what,
		summary.Counts(m.record, outcomes, unjudgedIn(m.record)), failure)
	return phase, reason, v1alpha1.Truncate(message, maxMessage)
}

// endsAs is how the run ends, and what the first failure was.
func (m *remainder) endsAs(outcomes []stage.Outcome) (phase v1alpha1.RunPhase, reason, failure string) {
	phase, reason = v1alpha1.RunCompleted, v1alpha1.ReasonCompleted
	switch {
	case m.failed:
		return v1alpha1.RunFailed, v1alpha1.ReasonFailed, ""
	case m.record.Status.Failed > 0: // some of it maybe before the run was cut off
		phase, reason = v1alpha1.RunFailed, v1alpha1.ReasonPartiallyFailed
	}
	for i := range outcomes {
		switch {
		case outcomes[i].Result.IsFailure():
			return v1alpha1.RunFailed, reasonOf(outcomes[i], v1alpha1.ReasonPartiallyFailed),
				fmt.Sprintf(" The first failure was on %s: %s", outcomes[i].Object, outcomes[i].Detail)
		case outcomes[i].Detail == changedAway: // left alone as in any run
		case outcomes[i].Result == v1alpha1.OutcomeAbandoned, outcomes[i].Result == v1alpha1.OutcomeInterrupted:
			phase = v1alpha1.RunInterrupted
			if reason != v1alpha1.ReasonForbidden {
				reason = reasonFor(errors.Join(outcomes[i].Err, m.closing), stopReason(m.closing))
			}
		}
	}
	return phase, reason, ""
}

// unjudgedIn is how many objects could not be judged, by the record of a run.
func unjudgedIn(record *v1alpha1.CleanerRun) (n int64) {
	for _, tally := range journal.Tallies(record) {
		if tally.Outcome == v1alpha1.OutcomeNotEvaluated {
			n += tally.Count
		}
	}
	return n
}
