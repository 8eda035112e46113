// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/ptr"
)

// TestTimes: when a Cleaner succeeded last is known from its status, if that was its last run, else only since the operator started.
func TestTimes(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry)
	want := func(last, success, next string) {
		t.Helper()
		wantMetrics(t, registry, fmt.Sprintf(`
		kubecleaner_last_run_timestamp_seconds{cleaner="a"} %s
		kubecleaner_last_success_timestamp_seconds{cleaner="a"} %s
		kubecleaner_next_run_timestamp_seconds{cleaner="a"} %s
		`, last, success, next))
	}
	c := cleanerOf("a")
	c.Status.LastRunTime = nil
	m.Observe(c, at(100))
	want("0", "0", "100")
	c.Status.LastRunTime, c.Status.FailureMessage = at(100), ptr.To("it failed")
	m.Observe(c, nil)
	want("100", "0", "0")
	c.Status.LastRunTime, c.Status.FailureMessage = at(200), nil
	m.Observe(c, at(300))
	want("200", "200", "300")
	c.Status.LastRunTime, c.Status.FailureMessage = at(300), ptr.To("it failed")
	m.Observe(c, at(400))
	want("300", "200", "400")
}
