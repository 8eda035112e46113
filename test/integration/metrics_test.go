// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
)

// measure gives the bench metrics that the test can read.
func (b *bench) measure() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	b.runner.Record.Metrics = metrics.New(registry)
	b.reconciler.Metrics = b.runner.Record.Metrics
	return registry
}

// measured are the values of the metrics whose names end so, as name{label value,...}: value, without the Cleaner's name and without
// those that are 0. Of a histogram it is how often something was observed.
func measured(t *testing.T, registry *prometheus.Registry, suffixes ...string) []string {
	t.Helper()
	families, err := registry.Gather()
	must(t, err)
	var all []string
	for _, family := range families {
		name := strings.TrimPrefix(family.GetName(), "kubecleaner_")
		if !slices.Contains(suffixes, name) {
			continue
		}
		for _, one := range family.GetMetric() {
			value := one.GetCounter().GetValue() + one.GetGauge().GetValue() + float64(one.GetHistogram().GetSampleCount())
			var labels []string
			for _, label := range one.GetLabel() {
				if !strings.HasPrefix(label.GetName(), "cleaner") {
					labels = append(labels, label.GetValue())
				}
			}
			if value != 0 {
				all = append(all, fmt.Sprintf("%s{%s} %.0f", name, strings.Join(labels, ","), value))
			}
		}
	}
	return all
}

func wantMeasured(t *testing.T, registry *prometheus.Registry, want map[string][]string) {
	t.Helper()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		for _, value := range want[name] {
			lines = append(lines, name+value)
		}
	}
	slices.Sort(lines)
	got := measured(t, registry, slices.Collect(maps.Keys(want))...)
	slices.Sort(got)
	if diff := cmp.Diff(lines, got); diff != "" {
		t.Fatalf("the metrics (-want +got):\n%s", diff)
	}
}

// TestRunIsMeasured: a run is counted once, however often its Cleaner is looked at, and its series end with the Cleaner.
func TestRunIsMeasured(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	registry := b.measure()
	tried := b.sends()
	b.configMap("old")
	b.configMap("kept", func(cm *corev1.ConfigMap) { cm.Annotations = map[string]string{v1alpha1.ProtectAnnotation: "true"} })
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationEvent), evaluate(`function evaluate() return {matching = true} end`)))
	l.reconciler.JitterWindow = 10 * time.Minute
	l.startExecutor()
	l.step()
	l.at(l.first().Add(10 * time.Minute))
	l.finish()
	tried(&l.records()[0])
	started := l.now.Status.LastRunTime.Unix()
	for range 3 {
		l.step()
	}
	wantMeasured(t, registry, map[string][]string{
		"actions_total":                       {"{Delete,,ConfigMap,Deleted} 1", "{Delete,,ConfigMap,Protected} 1"},
		"evaluation_duration_seconds":         {"{lua} 1"},
		"evaluation_errors_total":             nil,
		"guardrail_aborts_total":              nil,
		"k8s_cleaner_deleted_resources_total": {"{v1,ConfigMap} 1"},
		"last_run_timestamp_seconds":          {fmt.Sprintf("{} %d", started)},
		"last_success_timestamp_seconds":      {fmt.Sprintf("{} %d", started)},
		"matched_resources":                   {"{,ConfigMap} 2"},
		"notifications_total":                 {"{Event,Delivered} 1"},
		"run_duration_seconds":                {"{} 1"},
		"runs_total":                          {"{Delete,Completed} 1"},
		"scanned_resources":                   {"{} 2"},
	})
	families, err := registry.Gather()
	must(t, err)
	for _, family := range families {
		if family.GetName() == "kubecleaner_next_run_timestamp_seconds" {
			next, planned := int64(family.GetMetric()[0].GetGauge().GetValue()), l.first().Add(day).Unix()
			if next < planned || next > planned+600 { // its share of the jitter may be none
				t.Fatalf("the next run is at %d, which should be %d and some time of the jitter", next, planned)
			}
		}
	}
	must(t, b.user.Delete(t.Context(), l.now))
	_, err = l.reconciler.Reconcile(t.Context(), request(l.now.Name))
	must(t, err)
	families, err = registry.Gather()
	must(t, err)
	for _, family := range families {
		for _, one := range family.GetMetric() {
			for _, label := range one.GetLabel() {
				if label.GetValue() == l.now.Name {
					t.Errorf("%s has series of a Cleaner that is gone", family.GetName())
				}
			}
		}
	}
}

// TestMissedRunsAreMeasured: those in whose place a later one started, and those that were too late.
func TestMissedRunsAreMeasured(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	registry := b.measure()
	l := b.follow(b.cleaner(v1alpha1.ActionScan, deadline(7200)))
	l.startExecutor()
	l.step()
	l.at(l.first().Add(3*day + time.Hour)) // three days missed
	l.finish()
	l.at(l.first().Add(5*day + 3*time.Hour)) // two more, and too late for the second
	wantMeasured(t, registry, map[string][]string{"missed_runs_total": {"{Superseded} 3", "{TooLate} 2"}})
}

// TestNothingIsMeasuredTwice: what a run did whose record could not be written is counted by who brings it to its end.
func TestNothingIsMeasuredTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	registry := b.measure()
	b.configMap("one")
	b.configMap("two")
	b.configMap("kept", func(cm *corev1.ConfigMap) { cm.Annotations = protect })
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	var deletes atomic.Int32
	var ended atomic.Bool
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodDelete {
			deletes.Add(1)
		}
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/status") && deletes.Load() > 0 {
			ended.Store(deletes.Load() == 2)
			return refusal(t, r, apierrors.NewInternalError(http.ErrServerClosed)), nil
		}
		return nil, nil
	})
	stop := l.startExecutor()
	l.step()
	l.at(l.first())
	l.eventually("the run has acted, and cannot write that", ended.Load)
	stop() // who waits for the record of a run gives up some time later
	b.requests.setMeddle(nil)
	record := &l.records()[0]
	if record.Status.Phase != v1alpha1.RunExecuting {
		t.Fatalf("the record was written: it is in phase %s", record.Status.Phase)
	}
	wantMeasured(t, registry, map[string][]string{"actions_total": nil, "runs_total": nil})
	b.runner.Close(t.Context(), record)
	l.step()
	wantMeasured(t, registry, map[string][]string{
		"actions_total": {"{Delete,,ConfigMap,Deleted} 2", "{Delete,,ConfigMap,Protected} 1"}, "runs_total": {"{Delete,Completed} 1"},
		"matched_resources": {"{,ConfigMap} 3"}, "scanned_resources": {"{} 3"}, "k8s_cleaner_current_resources_count": {"{} 3"},
	})
}

// TestCopiesAreMeasured by the sweep. It sweeps the records of the whole cluster, so it does not run beside others.
func TestCopiesAreMeasured(t *testing.T) {
	b := newBench(t)
	registry := b.measure()
	b.configMap("one")
	b.configMap("two")
	b.run(b.cleaner(v1alpha1.ActionDelete))
	b.sweep(1 << 40)
	var all v1alpha1.CleanerRunList
	must(t, b.user.List(t.Context(), &all))
	var objects, bytes int64
	for _, run := range all.Items {
		if copies := run.Status.Copies; copies != nil && copies.Dropped == "" {
			objects, bytes = objects+copies.Objects, bytes+copies.Bytes
		}
	}
	if objects < 2 || bytes == 0 {
		t.Fatalf("there are %d copies of %d bytes", objects, bytes)
	}
	wantMeasured(t, registry, map[string][]string{"snapshot_bytes": {fmt.Sprintf("{} %d", bytes)}, "snapshots": {fmt.Sprintf("{} %d", objects)}})
	b.sweep(0)
	wantMeasured(t, registry, map[string][]string{"snapshot_bytes": nil, "snapshots": nil})
}
