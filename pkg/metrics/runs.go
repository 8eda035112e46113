// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Missed is why a run did not take place, as a label.
type Missed string

const (
	// MissedSuperseded is a run that was due while the operator was away or busy, and in whose place a later one started.
	MissedSuperseded Missed = "Superseded"
	// MissedTooLate is a run that could not start within startingDeadlineSeconds.
	MissedTooLate Missed = "TooLate"
)

// Abort is which guard kept a run from touching anything, as a label.
type Abort string

const (
	// AbortLimitExceeded is a limit on how much a run may touch.
	AbortLimitExceeded Abort = "LimitExceeded"
	// AbortViewIncomplete is a part of the cluster that could not be read or judged.
	AbortViewIncomplete Abort = "ViewIncomplete"
)

func (m *Metrics) initRuns() {
	m.runs = m.counter(
		"kubecleaner_runs_total",
		"Runs that ended, by action and result. The result is a reason of the condition RunSucceeded: Completed, or why the run did not complete.",
		"cleaner",
		"action",
		"result",
	)
	m.duration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "kubecleaner_run_duration_seconds", Help: "How long runs took.", Buckets: durations,
	}, []string{"cleaner"})
	m.ofCleaners = append(m.ofCleaners, vector{m.duration, m.duration.DeletePartialMatch, "cleaner"})
	m.lastRun = m.gauge("kubecleaner_last_run_timestamp_seconds",
		"The start of the last run that has ended, in seconds since 1970. 0 if there was none.", "cleaner")
	m.lastSuccess = m.gauge(
		"kubecleaner_last_success_timestamp_seconds",
		"The start of the last run that completed, in seconds since 1970. 0 if there was none. After a restart of the operator, it is also 0 if the last run did not complete. It stays 0 until a run completes.",
		"cleaner",
	)
	m.next = m.gauge(
		"kubecleaner_next_run_timestamp_seconds",
		"The time of the next run, including the jitter of --jitter-window, in seconds since 1970. 0 if no run is planned.",
		"cleaner",
	)
	m.missed = m.counter(
		"kubecleaner_missed_runs_total",
		"Scheduled runs that did not start, by reason: Superseded (by a later one) or TooLate (later than startingDeadlineSeconds allows). More than 100 at once count as 101.",
		"cleaner",
		"reason",
	)
	m.aborts = m.counter(
		"kubecleaner_guardrail_aborts_total",
		"Runs of action Delete or Transform that touched nothing, because a guard stopped them: LimitExceeded (more objects than a limit allows) or ViewIncomplete (something could not be read or judged).",
		"cleaner",
		"reason",
	)
}

// RunEnded counts a run.
func (m *Metrics) RunEnded(run *v1alpha1.CleanerRun) {
	name := run.Spec.Cleaner
	m.of(name, func() {
		m.runs.WithLabelValues(name, string(run.Spec.Action), run.Status.Reason).Inc()
		if run.Status.Duration != nil {
			m.duration.WithLabelValues(name).Observe(run.Status.Duration.Seconds())
		}
	})
}

// RunsMissed counts runs that did not take place.
func (m *Metrics) RunsMissed(cleaner string, why Missed, runs int) {
	m.of(cleaner, func() { m.missed.WithLabelValues(cleaner, string(why)).Add(float64(runs)) })
}

// RunAborted counts a run that a guard kept from touching anything.
func (m *Metrics) RunAborted(run *v1alpha1.CleanerRun, why Abort) {
	name := run.Spec.Cleaner
	m.of(name, func() { m.aborts.WithLabelValues(name, string(why)).Inc() })
}
