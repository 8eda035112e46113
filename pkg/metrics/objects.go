// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Engine is a selection language, as a label.
type Engine string

// The selection languages.
const (
	EngineLua Engine = "lua"
	EngineCEL Engine = "cel"
)

// Tally is how many objects of each kind a run dealt with, by what became of them. A kind of which it found none may be
// there, without results.
type Tally map[schema.GroupVersionKind]map[v1alpha1.OutcomeResult]int

// Add counts one object.
func (t Tally) Add(kind schema.GroupVersionKind, result v1alpha1.OutcomeResult) {
	t.Selected(kind)
	t[kind][result]++
}

// Selected says that objects of the kind were looked for.
func (t Tally) Selected(kind schema.GroupVersionKind) {
	if t[kind] == nil {
		t[kind] = map[v1alpha1.OutcomeResult]int{}
	}
}

func (m *Metrics) initObjects() {
	m.matched = m.gauge(
		"kubecleaner_matched_resources",
		"Objects of each kind that matched in the last run. Runs that did not read the cluster do not count.",
		"cleaner",
		"group",
		"kind",
	)
	m.scanned = m.gauge("kubecleaner_scanned_resources",
		"Objects that the last run selected and judged. Runs that did not read the cluster do not count.", "cleaner")
	m.actions = m.counter(
		"kubecleaner_actions_total",
		"Objects that runs handled, by their outcome in the CleanerRun, for example Deleted, Matched, Protected, Failed or NotEvaluated.",
		"cleaner",
		"action",
		"group",
		"kind",
		"result",
	)
	m.faults = m.counter(
		"kubecleaner_evaluation_errors_total",
		"Expressions and scripts that failed on one object or on all objects together. Reason error: a mistake in the script. limit: a CEL expression cost too much. time, memory, objects: the script used up this budget. patience: too many objects used up their time or memory. crash, killed: how the script's process ended.",
		"cleaner",
		"engine",
		"reason",
	)
	m.evaluation = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "kubecleaner_evaluation_duration_seconds",
		Help:    "How long the expressions or scripts of a run took, for all its objects together.",
		Buckets: durations,
	}, []string{"engine"})
}

// ObjectsHandled counts what became of the objects of a run.
func (m *Metrics) ObjectsHandled(run *v1alpha1.CleanerRun, tally Tally) {
	name := run.Spec.Cleaner
	m.of(name, func() {
		for kind, results := range tally {
			for result, n := range results {
				m.actions.WithLabelValues(name, string(run.Spec.Action), kind.Group, kind.Kind, string(result)).Add(float64(n))
				m.legacy.handled(name, kind, result, n)
			}
		}
	})
}

// ObjectsFound says what a run found that read the cluster.
func (m *Metrics) ObjectsFound(run *v1alpha1.CleanerRun, tally Tally) {
	name := run.Spec.Cleaner
	m.of(name, func() {
		matched := map[schema.GroupKind]int{} // two selectors may name two versions of one kind
		for kind, results := range tally {
			matched[kind.GroupKind()] += 0
			for result, n := range results {
				if result.IsMatch() {
					matched[kind.GroupKind()] += n
				}
			}
		}
		for kind, n := range matched {
			m.matched.WithLabelValues(name, kind.Group, kind.Kind).Set(float64(n))
			m.cleaners[name][kind] = true
		}
		for kind := range m.cleaners[name] {
			if _, still := matched[kind]; !still {
				m.matched.DeleteLabelValues(name, kind.Group, kind.Kind)
				delete(m.cleaners[name], kind)
			}
		}
		m.scanned.WithLabelValues(name).Set(float64(run.Status.Considered))
		m.legacy.found(name, tally)
	})
}

// EvaluationFailed counts an expression or a script that failed.
func (m *Metrics) EvaluationFailed(run *v1alpha1.CleanerRun, engine Engine, reason string) {
	name := run.Spec.Cleaner
	m.of(name, func() { m.faults.WithLabelValues(name, string(engine), reason).Inc() })
}

// Evaluated records how long an engine was at work in a run.
func (m *Metrics) Evaluated(engine Engine, took time.Duration) {
	m.evaluation.WithLabelValues(string(engine)).Observe(took.Seconds())
}
