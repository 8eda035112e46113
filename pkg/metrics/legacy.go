// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// legacy are k8s-cleaner's metrics, for the dashboards and alerts that exist. The names and labels are its own; the
// facts are ours: k8s-cleaner counted before it acted, and never an error.
type legacy struct {
	totals  map[word]*prometheus.CounterVec
	current map[word]*prometheus.GaugeVec
	matched *prometheus.GaugeVec
}

// word is what became of an object, as k8s-cleaner says it.
type word string

const (
	deleted word = "deleted"
	updated word = "updated"
	scanned word = "scan"
	failed  word = "error"
)

// wordFor is k8s-cleaner's word for an outcome. Empty when it has none.
func wordFor(result v1alpha1.OutcomeResult) word {
	switch {
	case result == v1alpha1.OutcomeDeleted, result == v1alpha1.OutcomeTerminating:
		return deleted
	case result == v1alpha1.OutcomeTransformed:
		return updated
	case result == v1alpha1.OutcomeMatched, result == v1alpha1.OutcomeDryRun:
		return scanned
	case result.IsFailure(), result == v1alpha1.OutcomeNotEvaluated:
		return failed
	}
	return ""
}

func (m *Metrics) initLegacy() {
	const instance = "cleaner_instance"
	m.legacy.totals = map[word]*prometheus.CounterVec{}
	for word, help := range map[word]string{
		deleted: "Objects that were deleted. Some of them may still be terminating.", updated: "Objects that were changed.",
		scanned: "Objects that a Scan found.", failed: "Objects that could not be judged, deleted or changed.",
	} {
		m.legacy.totals[word] = m.counter(
			"k8s_cleaner_"+string(word)+"_resources_total",
			help+" The name is from k8s-cleaner.",
			instance,
			"resource_apiversion",
			"resource_type",
		)
	}
	m.legacy.current = map[word]*prometheus.GaugeVec{}
	for word, help := range map[word]string{
		deleted: "Objects that the last run deleted. Some of them may still be terminating.", updated: "Objects that the last run changed.",
		failed: "Objects that the last run could not judge, delete or change.",
	} {
		m.legacy.current[word] = m.gauge(
			"k8s_cleaner_current_"+string(word)+"_resources_count",
			help+" The name is from k8s-cleaner.",
			instance,
		)
	}
	m.legacy.matched = m.gauge(
		"k8s_cleaner_current_resources_count",
		"Objects that matched in the last run. The name is from k8s-cleaner.",
		instance,
	)
}

func (l *legacy) handled(cleaner string, kind schema.GroupVersionKind, result v1alpha1.OutcomeResult, n int) {
	if word := wordFor(result); word != "" {
		l.totals[word].WithLabelValues(cleaner, kind.GroupVersion().String(), kind.Kind).Add(float64(n))
	}
}

func (l *legacy) found(cleaner string, tally Tally) {
	matched, by := 0, map[word]int{}
	for _, results := range tally {
		for result, n := range results {
			by[wordFor(result)] += n
			if result.IsMatch() {
				matched += n
			}
		}
	}
	l.matched.WithLabelValues(cleaner).Set(float64(matched))
	for word, gauge := range l.current {
		gauge.WithLabelValues(cleaner).Set(float64(by[word]))
	}
}
