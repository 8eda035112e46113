// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package metrics holds the operator's own metrics.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Metrics are the collectors. Facts are counted after they happened.
type Metrics struct {
	runs     *prometheus.CounterVec
	duration *prometheus.HistogramVec
	actions  *prometheus.CounterVec
	matched  *prometheus.GaugeVec
	next     *prometheus.GaugeVec
	stages   *prometheus.HistogramVec
}

// Stage is a part of a run, as a label.
type Stage string

// The stages of a run: it lists and judges each object as it comes, judges all of them together, writes down what it is going to
// do and what it did, acts, and tells.
const (
	StageList   Stage = "list"
	StageJudge  Stage = "judge"
	StageRecord Stage = "record"
	StageAct    Stage = "act"
	StageTell   Stage = "tell"
)

// New registers the collectors.
func New(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kubecleaner_runs_total", Help: "Runs that ended, by the reason they ended for.",
		}, []string{"cleaner", "action", "result"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "kubecleaner_run_duration_seconds", Help: "How long runs took.",
			Buckets: []float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 1800},
		}, []string{"cleaner"}),
		actions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kubecleaner_actions_total", Help: "Objects that runs dealt with, by what became of them.",
		}, []string{"cleaner", "action", "group", "kind", "result"}),
		matched: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "kubecleaner_matched_resources", Help: "Objects that matched in the last run.",
		}, []string{"cleaner"}),
		next: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "kubecleaner_next_run_timestamp_seconds", Help: "When the Cleaner runs next, in seconds since 1970; 0 when it does not.",
		}, []string{"cleaner"}),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "kubecleaner_run_phase_duration_seconds", Help: "How long the phases of runs took: list, judge, record, act and tell.",
			Buckets: []float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 1800},
		}, []string{"phase"}),
	}
	registry.MustRegister(m.runs, m.duration, m.actions, m.matched, m.next, m.stages)
	return m
}

// RunEnded counts a run.
func (m *Metrics) RunEnded(run *v1alpha1.CleanerRun) {
	name := run.Spec.Cleaner
	m.runs.WithLabelValues(name, string(run.Spec.Action), run.Status.Reason).Inc()
	m.matched.WithLabelValues(name).Set(float64(run.Status.Matched))
	if run.Status.Duration != nil {
		m.duration.WithLabelValues(name).Observe(run.Status.Duration.Seconds())
	}
}

// ObjectHandled counts what became of one object.
func (m *Metrics) ObjectHandled(run *v1alpha1.CleanerRun, group, kind string, result v1alpha1.OutcomeResult) {
	m.actions.WithLabelValues(run.Spec.Cleaner, string(run.Spec.Action), group, kind, string(result)).Inc()
}

// StageEnded tells how long a stage of a run took.
func (m *Metrics) StageEnded(stage Stage, took time.Duration) {
	m.stages.WithLabelValues(string(stage)).Observe(took.Seconds())
}

// NextRun tells when the Cleaner runs next, in seconds since 1970; 0 when it does not.
func (m *Metrics) NextRun(cleaner string, seconds int64) {
	m.next.WithLabelValues(cleaner).Set(float64(seconds))
}

// Forget drops the series of a deleted Cleaner.
func (m *Metrics) Forget(cleaner string) {
	labels := prometheus.Labels{"cleaner": cleaner}
	for _, vec := range []interface{ DeletePartialMatch(prometheus.Labels) int }{m.runs, m.duration, m.actions, m.matched, m.next} {
		vec.DeletePartialMatch(labels)
	}
}
