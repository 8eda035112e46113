// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

var (
	configMap  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	deployment = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
)

func runOf(cleaner string) *v1alpha1.CleanerRun {
	run := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{Cleaner: cleaner, Action: v1alpha1.ActionDelete}}
	run.Status.Reason, run.Status.Duration = v1alpha1.ReasonCompleted, &metav1.Duration{Duration: time.Second}
	run.Status.Considered = 9
	return run
}

func cleanerOf(name string) *v1alpha1.Cleaner {
	c := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Status.LastRunTime = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}
	return c
}

func at(seconds int64) *metav1.Time { return &metav1.Time{Time: time.Unix(seconds, 0)} }

// tallyOf has an outcome of every word of k8s-cleaner's, and one that it has no word for.
func tallyOf() Tally {
	tally := Tally{}
	for _, result := range []v1alpha1.OutcomeResult{
		v1alpha1.OutcomeDeleted, v1alpha1.OutcomeDeleted, v1alpha1.OutcomeTerminating, v1alpha1.OutcomeProtected, v1alpha1.OutcomeDenied, v1alpha1.OutcomeNotEvaluated,
	} {
		tally.Add(configMap, result)
	}
	tally.Add(deployment, v1alpha1.OutcomeTransformed)
	tally.Add(deployment, v1alpha1.OutcomeMatched)
	return tally
}

// fill counts each fact of a Cleaner once.
func (m *Metrics) fill(cleaner string) {
	run := runOf(cleaner)
	m.Observe(cleanerOf(cleaner), at(1_800_000_000))
	m.RunEnded(run)
	m.RunsMissed(cleaner, MissedTooLate, 3)
	m.RunAborted(run, AbortLimitExceeded)
	m.ObjectsHandled(run, tallyOf())
	m.ObjectsFound(run, tallyOf())
	m.EvaluationFailed(run, EngineCEL, "limit")
	m.Notified(cleaner, v1alpha1.NotificationEvent, v1alpha1.NotificationPending)
	m.CopiesFailed(run)
	m.SchemaOutdated(true)
	m.ActingStopped(true)
}

func filled(cleaners ...string) (*prometheus.Registry, *Metrics) {
	registry := prometheus.NewRegistry()
	m := New(registry)
	BuildInfo(registry, "v1.2.3")
	for _, cleaner := range cleaners {
		m.fill(cleaner)
	}
	m.Evaluated(EngineLua, time.Second)
	m.StageEnded(StageAct, time.Second)
	m.CopiesKept(2, 300)
	return registry, m
}

// values are the values of counters and gauges, and how many observations histograms have, by name{label="value"}.
func values(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, family := range families {
		for _, one := range family.GetMetric() {
			var labels []string
			for _, label := range one.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", label.GetName(), label.GetValue()))
			}
			all[family.GetName()+"{"+strings.Join(labels, ",")+"}"] =
				one.GetCounter().GetValue() + one.GetGauge().GetValue() + float64(one.GetHistogram().GetSampleCount())
		}
	}
	return all
}

// k8s-cleaner's names are as they are.
var legacyNames = []string{
	"k8s_cleaner_current_deleted_resources_count", "k8s_cleaner_current_error_resources_count",
	"k8s_cleaner_current_resources_count", "k8s_cleaner_current_updated_resources_count",
}

// TestMetricsAreNamedAsPrometheusWantsThem: every metric has a series, so that the linter sees it.
func TestMetricsAreNamedAsPrometheusWantsThem(t *testing.T) {
	registry, _ := filled("a")
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	described := make(chan *prometheus.Desc, 1000)
	registry.Describe(described)
	if len(families) != len(described) {
		t.Errorf("%d of %d metrics have a series: fill must count every fact", len(families), len(described))
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	excepted := map[string]bool{}
	for _, problem := range problems {
		if !slices.Contains(legacyNames, problem.Metric) {
			t.Errorf("%s: %s", problem.Metric, problem.Text)
		}
		excepted[problem.Metric] = true
	}
	if len(excepted) != len(legacyNames) {
		t.Errorf("the linter does not complain of all the exceptions, but of %v", excepted)
	}
	for _, family := range families {
		if name := family.GetName(); !strings.HasPrefix(name, "kubecleaner_") && !strings.HasPrefix(name, "k8s_cleaner_") {
			t.Errorf("%s has another prefix", name)
		}
	}
}

// TestForget drops every series of a Cleaner and none of another's, and what is counted of it later makes none.
func TestForget(t *testing.T) {
	alone, _ := filled("other")
	want := values(t, alone)
	registry, m := filled("gone", "other")
	m.Forget("gone")
	run := runOf("gone")
	m.RunEnded(run)
	m.RunsMissed("gone", MissedTooLate, 1)
	m.RunAborted(run, AbortViewIncomplete)
	m.ObjectsHandled(run, tallyOf())
	m.ObjectsFound(run, tallyOf())
	m.EvaluationFailed(run, EngineLua, "error")
	m.Notified("gone", v1alpha1.NotificationEvent, v1alpha1.NotificationFailed)
	m.CopiesFailed(run)
	if diff := cmp.Diff(want, values(t, registry)); diff != "" {
		t.Errorf("the metrics differ (-want +got):\n%s", diff)
	}
	m.fill("gone") // it was created again
	if got := values(t, registry); len(got) <= len(want) {
		t.Error("a Cleaner that was created again is not counted")
	}
}

// wantMetrics compares all series of the metrics that want has.
func wantMetrics(t *testing.T, registry *prometheus.Registry, want string) {
	t.Helper()
	wanted, names := map[string]float64{}, map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(want)) {
		one, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		wanted[one+"}"] = number
		name, _, _ := strings.Cut(one, "{")
		names[name] = true
	}
	got := values(t, registry)
	maps.DeleteFunc(got, func(one string, _ float64) bool {
		name, _, _ := strings.Cut(one, "{")
		return !names[name]
	})
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("the metrics differ (-want +got):\n%s", diff)
	}
}

func TestWhatIsCounted(t *testing.T) {
	registry, _ := filled("a")
	wantMetrics(t, registry, `
	kubecleaner_actions_total{action="Delete",cleaner="a",group="",kind="ConfigMap",result="Deleted"} 2
	kubecleaner_actions_total{action="Delete",cleaner="a",group="",kind="ConfigMap",result="Denied"} 1
	kubecleaner_actions_total{action="Delete",cleaner="a",group="",kind="ConfigMap",result="NotEvaluated"} 1
	kubecleaner_actions_total{action="Delete",cleaner="a",group="",kind="ConfigMap",result="Protected"} 1
	kubecleaner_actions_total{action="Delete",cleaner="a",group="",kind="ConfigMap",result="Terminating"} 1
	kubecleaner_actions_total{action="Delete",cleaner="a",group="apps",kind="Deployment",result="Matched"} 1
	kubecleaner_actions_total{action="Delete",cleaner="a",group="apps",kind="Deployment",result="Transformed"} 1
	kubecleaner_matched_resources{cleaner="a",group="",kind="ConfigMap"} 5
	kubecleaner_matched_resources{cleaner="a",group="apps",kind="Deployment"} 2
	kubecleaner_scanned_resources{cleaner="a"} 9
	kubecleaner_runs_total{action="Delete",cleaner="a",result="Completed"} 1
	kubecleaner_missed_runs_total{cleaner="a",reason="TooLate"} 3
	kubecleaner_notifications_total{channel="Event",cleaner="a",result="Retrying"} 1
	kubecleaner_next_run_timestamp_seconds{cleaner="a"} 1.8e+09
	kubecleaner_build_info{goversion="`+runtime.Version()+`",version="v1.2.3"} 1
	k8s_cleaner_deleted_resources_total{cleaner_instance="a",resource_apiversion="v1",resource_type="ConfigMap"} 3
	k8s_cleaner_updated_resources_total{cleaner_instance="a",resource_apiversion="apps/v1",resource_type="Deployment"} 1
	k8s_cleaner_scan_resources_total{cleaner_instance="a",resource_apiversion="apps/v1",resource_type="Deployment"} 1
	k8s_cleaner_error_resources_total{cleaner_instance="a",resource_apiversion="v1",resource_type="ConfigMap"} 2
	k8s_cleaner_current_deleted_resources_count{cleaner_instance="a"} 3
	k8s_cleaner_current_updated_resources_count{cleaner_instance="a"} 1
	k8s_cleaner_current_error_resources_count{cleaner_instance="a"} 2
	k8s_cleaner_current_resources_count{cleaner_instance="a"} 7
	`)
}

// TestKindsOfTheLastRun: a kind of which nothing matched is 0, one that is not selected any more has no series, and two versions of
// one kind are one.
func TestKindsOfTheLastRun(t *testing.T) {
	registry, m := filled("a")
	next := Tally{}
	next.Selected(configMap)
	next.Selected(schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"})
	next.Add(schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}, v1alpha1.OutcomeDeleted)
	next.Add(schema.GroupVersionKind{Group: "batch", Version: "v1beta1", Kind: "Job"}, v1alpha1.OutcomeDeleted)
	m.ObjectsFound(runOf("a"), next)
	wantMetrics(t, registry, `
	kubecleaner_matched_resources{cleaner="a",group="",kind="ConfigMap"} 0
	kubecleaner_matched_resources{cleaner="a",group="batch",kind="Job"} 2
	k8s_cleaner_current_resources_count{cleaner_instance="a"} 2
	k8s_cleaner_current_error_resources_count{cleaner_instance="a"} 0
	`)
}
