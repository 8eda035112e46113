// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package metrics holds the operator's own metrics, and beside them those of k8s-cleaner under their old names, with
// our facts. Facts are counted after they happened, and once. No label is ever an object's name, a UID or the text of
// an error.
package metrics

import (
	"runtime"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Metrics are the collectors. Only Cleaners that Observe was called with have series, so that a run that ends after its
// Cleaner was deleted leaves none behind.
type Metrics struct {
	runs           *prometheus.CounterVec
	duration       *prometheus.HistogramVec
	stages         *prometheus.HistogramVec
	lastRun        *prometheus.GaugeVec
	lastSuccess    *prometheus.GaugeVec
	next           *prometheus.GaugeVec
	missed         *prometheus.CounterVec
	matched        *prometheus.GaugeVec
	scanned        *prometheus.GaugeVec
	actions        *prometheus.CounterVec
	aborts         *prometheus.CounterVec
	faults         *prometheus.CounterVec
	evaluation     *prometheus.HistogramVec
	notifications  *prometheus.CounterVec
	copyFaults     *prometheus.CounterVec
	copies         *prometheus.GaugeVec
	copyBytes      *prometheus.GaugeVec
	schemaOutdated *prometheus.GaugeVec
	actingStopped  *prometheus.GaugeVec
	legacy         legacy

	// ofCleaners are those whose series end with their Cleaner.
	ofCleaners []vector

	mu sync.Mutex
	// cleaners are those that there are, each with the kinds of which its last run has series.
	cleaners map[string]map[schema.GroupKind]bool
}

// vector is what Forget needs of a vector of counters, gauges or histograms.
type vector struct {
	prometheus.Collector
	drop func(prometheus.Labels) int
	// label is the one that holds the Cleaner's name.
	label string
}

// New registers the collectors.
func New(registry prometheus.Registerer) *Metrics {
	m := &Metrics{stages: newStages(), cleaners: map[string]map[schema.GroupKind]bool{}}
	m.initRuns()
	m.initObjects()
	m.initOperator()
	m.initLegacy()
	for _, v := range m.ofCleaners {
		registry.MustRegister(v.Collector)
	}
	registry.MustRegister(m.stages, m.evaluation, m.copies, m.copyBytes, m.schemaOutdated, m.actingStopped)
	return m
}

// counter makes a counter of which each Cleaner has series.
func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.ofCleaners = append(m.ofCleaners, vector{v, v.DeletePartialMatch, labels[0]})
	return v
}

// gauge makes a gauge of which each Cleaner has series.
func (m *Metrics) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	m.ofCleaners = append(m.ofCleaners, vector{v, v.DeletePartialMatch, labels[0]})
	return v
}

// Observe says how a Cleaner stands, and when it runs next; nil when it does not. From then on its facts are counted.
func (m *Metrics) Observe(cleaner *v1alpha1.Cleaner, next *metav1.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name, status := cleaner.Name, &cleaner.Status
	_, known := m.cleaners[name]
	if !known {
		m.cleaners[name] = map[schema.GroupKind]bool{}
	}
	m.next.WithLabelValues(name).Set(seconds(next))
	last := seconds(status.LastRunTime)
	m.lastRun.WithLabelValues(name).Set(last)
	switch { // the failure may be that of a Cleaner that does not run any more
	case status.FailureMessage == nil, meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionRunSucceeded):
		m.lastSuccess.WithLabelValues(name).Set(last)
	case !known: // when it succeeded last is not in its status
		m.lastSuccess.WithLabelValues(name).Set(0)
	}
}

// seconds is a time in seconds since 1970, and 0 for none.
func seconds(t *metav1.Time) float64 {
	if t == nil {
		return 0
	}
	return float64(t.Unix())
}

// Forget drops the series of a deleted Cleaner.
func (m *Metrics) Forget(cleaner string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.cleaners, cleaner)
	for _, v := range m.ofCleaners {
		v.drop(prometheus.Labels{v.label: cleaner})
	}
}

// of counts a fact of a Cleaner, if there still is that Cleaner.
func (m *Metrics) of(cleaner string, count func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.cleaners[cleaner]; known {
		count()
	}
}

// BuildInfo registers a metric that says which version runs.
func BuildInfo(registry prometheus.Registerer, version string) {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "kubecleaner_build_info", Help: "Always 1. The labels have the version of the operator and of Go.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	info.Set(1)
	registry.MustRegister(info)
}

// durations are the buckets of all durations, in seconds.
var durations = []float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 1800}
