// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// filled are the metrics after a run of a Cleaner.
func filled(cleaner string) (*prometheus.Registry, *Metrics) {
	registry := prometheus.NewRegistry()
	m := New(registry)
	run := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Cleaner: cleaner, Action: v1alpha1.ActionDelete}}
	run.Status.Reason, run.Status.Duration = v1alpha1.ReasonCompleted, &metav1.Duration{Duration: time.Second}
	m.RunEnded(run)
	m.ObjectHandled(run, "apps", "Deployment", v1alpha1.OutcomeDeleted)
	m.NextRun(cleaner, 1_800_000_000)
	for _, stage := range []Stage{StageList, StageJudge, StageRecord, StageAct, StageTell} {
		m.StageEnded(stage, time.Second)
	}
	return registry, m
}

// TestMetricsAreNamedAsPrometheusWantsThem: every metric has a series, so that the linter sees it.
func TestMetricsAreNamedAsPrometheusWantsThem(t *testing.T) {
	registry, _ := filled("a")
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var described int
	collectors := make(chan *prometheus.Desc, 100)
	registry.Describe(collectors)
	close(collectors)
	for range collectors {
		described++
	}
	if len(families) != described {
		t.Errorf("%d of %d metrics have a series", len(families), described)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "kubecleaner_") {
			t.Errorf("%s has another prefix", family.GetName())
		}
	}
}

// TestForget drops every series of a Cleaner, and nothing else: those of the phases are of all Cleaners.
func TestForget(t *testing.T) {
	registry, m := filled("a")
	m.Forget("a")
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var phases []string
	for _, family := range families {
		for _, series := range family.GetMetric() {
			for _, label := range series.GetLabel() {
				switch label.GetName() {
				case "cleaner":
					t.Errorf("%s is still there", family.GetName())
				case "phase":
					phases = append(phases, label.GetValue())
				}
			}
		}
	}
	if got := strings.Join(phases, " "); got != "act judge list record tell" {
		t.Errorf("the phases are %s", got)
	}
}
