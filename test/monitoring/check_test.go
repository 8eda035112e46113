// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	_ "sigs.k8s.io/controller-runtime" // registers metrics of the process
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kubecleaner/kubecleaner/pkg/metrics"
)

// description is how a metric describes itself.
var description = regexp.MustCompile(`^Desc\{fqName: "([^"]*)".* constLabels: \{(.*)\}, variableLabels: \{(.*)\}\}$`)

// known are the labels of each metric that the operator serves, by name. The suffixes of histograms are names too.
func known(t *testing.T) map[string][]string {
	t.Helper()
	registry := prometheus.NewRegistry()
	metrics.New(registry)
	metrics.BuildInfo(registry, "v1")
	described := make(chan *prometheus.Desc, 10000)
	registry.Describe(described)
	ctrlmetrics.Registry.(prometheus.Collector).Describe(described)
	close(described)
	all := map[string][]string{}
	for desc := range described {
		found := description.FindStringSubmatch(desc.String())
		if found == nil {
			t.Fatalf("a metric describes itself as %s", desc)
		}
		labels := strings.FieldsFunc(found[3], func(r rune) bool { return r == ',' })
		for one := range strings.SplitSeq(found[2], ",") {
			name, _, _ := strings.Cut(one, "=")
			labels = append(labels, name)
		}
		for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
			all[found[1]+suffix] = append(labels, "le", "instance", "job", "namespace", "pod")
		}
	}
	return all
}

var (
	metric   = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^}]*)\}|\b((?:kubecleaner|k8s_cleaner|process|go|rest_client|leader_election)[_:][a-zA-Z0-9_:]*)`)
	matcher  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"`)
	grouping = regexp.MustCompile(`\b(?:by|on)\s*\(([^)]*)\)`)
)

// check finds mistakes in an expression that can be found without a parser: metrics and labels that there are not, and brackets.
func check(expr string, known map[string][]string) (problems []string) {
	var labels []string
	found := metric.FindAllStringSubmatch(expr, -1)
	for _, one := range found {
		name := one[1] + one[3]
		if known[name] == nil {
			problems = append(problems, "there is no metric "+name)
			continue
		}
		labels = append(labels, known[name]...)
		for _, label := range matcher.FindAllStringSubmatch(one[2], -1) {
			if !slices.Contains(known[name], label[1]) {
				problems = append(problems, name+" has no label "+label[1])
			}
		}
	}
	if len(found) == 0 {
		problems = append(problems, "it names no metric")
	}
	for _, list := range grouping.FindAllStringSubmatch(expr, -1) {
		for label := range strings.SplitSeq(list[1], ",") {
			if label = strings.TrimSpace(label); !slices.Contains(labels, label) {
				problems = append(problems, "no metric has the label "+label)
			}
		}
	}
	for _, pair := range []string{"()", "{}", "[]"} {
		if strings.Count(expr, pair[:1]) != strings.Count(expr, pair[1:]) {
			problems = append(problems, "not every "+pair[:1]+" has its "+pair[1:])
		}
	}
	return problems
}

// TestChecksSeeMistakes that the alerts and the dashboard do not have.
func TestChecksSeeMistakes(t *testing.T) {
	known := known(t)
	for expr, want := range map[string]string{
		`kubecleaner_run_total > 0`:                       "there is no metric kubecleaner_run_total",
		`foo{cleaner="a"}`:                                "there is no metric foo",
		`kubecleaner_runs_total{name="a"}`:                "kubecleaner_runs_total has no label name",
		`sum by (cleaner, kind) (kubecleaner_runs_total)`: "no metric has the label kind",
		`sum by (cleaner) (kubecleaner_runs_total`:        "not every ( has its )",
		`vector(1)`: "it names no metric",
		`rate(kubecleaner_run_duration_seconds_bucket{le="1"}[5m])`: "",
		`process_resident_memory_bytes`:                             "",
	} {
		if got := strings.Join(check(expr, known), "; "); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}
