// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Stage is a part of a run, as a label.
type Stage string

// The stages of a run: it lists and judges each object as it comes, judges all of them together, writes down what it is
// going to do and what it did, acts, and notifies.
const (
	StageList   Stage = "list"
	StageJudge  Stage = "judge"
	StageRecord Stage = "record"
	StageAct    Stage = "act"
	StageNotify Stage = "notify"
)

func newStages() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "kubecleaner_run_phase_duration_seconds",
		Help:    "How long the phases of runs took: list, judge, record, act and notify.",
		Buckets: durations,
	}, []string{"phase"})
}

// StageEnded records how long a stage of a run took.
func (m *Metrics) StageEnded(stage Stage, took time.Duration) {
	m.stages.WithLabelValues(string(stage)).Observe(took.Seconds())
}
