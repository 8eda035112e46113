// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package monitoring checks the alerts and the dashboard against the metrics that there are.
package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	_ "sigs.k8s.io/controller-runtime" // registers metrics of the process
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/pkg/metrics"
)

const (
	rulesFile     = "../../config/prometheus/rules.yaml"
	dashboardFile = "../../config/grafana/dashboard.json"
	runbooks      = "../../docs/runbooks.md"
	runbookURL    = "https://github.com/kubecleaner/kubecleaner/blob/main/docs/runbooks.md#"
)

// rules are what a PrometheusRule holds. What is not here is refused.
type rules struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Spec       groups         `json:"spec"`
}

type groups struct {
	Groups []struct {
		Name     string `json:"name"`
		Interval string `json:"interval,omitempty"`
		Rules    []rule `json:"rules"`
	} `json:"groups"`
}

type rule struct {
	Alert       string            `json:"alert,omitempty"`
	Record      string            `json:"record,omitempty"`
	Expr        string            `json:"expr"`
	For         string            `json:"for,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

func readRules(t *testing.T) (groups, []rule) {
	t.Helper()
	text, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	var all rules
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		t.Fatal(err)
	}
	var found []rule
	for _, group := range all.Spec.Groups {
		found = append(found, group.Rules...)
	}
	if len(found) == 0 {
		t.Fatalf("%s has no rules", rulesFile)
	}
	return all.Spec, found
}

// panel is what of a panel of the dashboard is checked.
type panel struct {
	ID          int               `json:"id"`
	Type        string            `json:"type"`
	Title       string            `json:"title"`
	Datasource  map[string]string `json:"datasource"`
	GridPos     struct{ X, Y, W, H int }
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []struct{ RefID, Expr string }
}

func readDashboard(t *testing.T) []panel {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		UID, Title string
		Templating struct{ List []struct{ Name string } }
		Panels     []panel
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	if board.UID == "" || board.Title == "" || len(board.Templating.List) != 2 || len(board.Panels) == 0 {
		t.Fatalf("the dashboard is %+v", board)
	}
	return board.Panels
}

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

func TestRules(t *testing.T) {
	known := known(t)
	_, all := readRules(t)
	for _, r := range all {
		if r.Record != "" {
			known[r.Record] = []string{"cleaner"}
		}
	}
	text, err := os.ReadFile(runbooks)
	if err != nil {
		t.Fatal(err)
	}
	var alerts, sections []string
	for _, r := range all {
		for _, problem := range check(r.Expr, known) {
			t.Errorf("%s%s: %s", r.Alert, r.Record, problem)
		}
		if r.Record != "" {
			continue
		}
		alerts = append(alerts, r.Alert)
		if r.Annotations["summary"] == "" || r.Annotations["description"] == "" || !slices.Contains([]string{"warning", "critical"}, r.Labels["severity"]) {
			t.Errorf("%s lacks a summary, a description or a severity: %+v", r.Alert, r)
		}
		if want := runbookURL + strings.ToLower(r.Alert); r.Annotations["runbook_url"] != want {
			t.Errorf("%s has the runbook %s, want %s", r.Alert, r.Annotations["runbook_url"], want)
		}
	}
	for section := range strings.SplitSeq(string(text), "\n## ") {
		title, body, _ := strings.Cut(section, "\n")
		if strings.HasPrefix(title, "# ") {
			continue
		}
		sections = append(sections, title)
		for _, part := range []string{"**What it means.**", "**What to look at.**", "```sh\n", "**What to do.**"} {
			if !strings.Contains(body, part) {
				t.Errorf("%s of %s has no %q", title, runbooks, part)
			}
		}
	}
	slices.Sort(alerts)
	slices.Sort(sections)
	if !slices.Equal(alerts, sections) {
		t.Errorf("the alerts are\n%v, and the sections of %s\n%v", alerts, runbooks, sections)
	}
}

func TestDashboard(t *testing.T) {
	known, ids := known(t), map[int]bool{}
	panels := readDashboard(t)
	var rows []string
	for i, p := range panels {
		if ids[p.ID] || p.ID == 0 || p.Title == "" {
			t.Errorf("panel %d has the id %d and the title %q", i, p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, other := range panels[:i] {
			a, b := p.GridPos, other.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%q covers %q", p.Title, other.Title)
			}
		}
		if p.GridPos.W == 0 || p.GridPos.H == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%q is at %+v", p.Title, p.GridPos)
		}
		if p.Type == "row" {
			rows = append(rows, p.Title)
			continue
		}
		if p.Datasource["uid"] != "${datasource}" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
			t.Errorf("%q lacks the data source, a unit or a query", p.Title)
		}
		for _, target := range p.Targets {
			for _, problem := range check(target.Expr, known) {
				t.Errorf("%q: %s", p.Title, problem)
			}
		}
	}
	if want := []string{"Runs", "What they did", "Trouble", "Operator"}; !slices.Equal(rows, want) {
		t.Errorf("the rows are %q, want %q", rows, want)
	}
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

// TestPromtool tries the rules with Prometheus' own rule tester, and parses every expression of the dashboard with its parser. It
// runs in make alerts only: building promtool takes minutes.
func TestPromtool(t *testing.T) {
	promtool := os.Getenv("PROMTOOL")
	if promtool == "" {
		t.Skip("no PROMTOOL: make alerts builds it and runs this test")
	}
	dir := t.TempDir()
	write := func(name string, value any) {
		t.Helper()
		text, err := yaml.Marshal(value)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), promtool, args...)
		command.Dir = dir
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	alerts, _ := readRules(t)
	write("rules.yaml", alerts)
	var queries []rule
	variables := strings.NewReplacer("$__rate_interval", "5m", "$cleaner", ".*")
	for _, p := range readDashboard(t) {
		for _, target := range p.Targets {
			queries = append(queries, rule{Record: fmt.Sprintf("panel:%d:%s", p.ID, target.RefID), Expr: variables.Replace(target.Expr)})
		}
	}
	write("dashboard.yaml", map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": queries}}})
	run("check", "rules", "--lint=all", "rules.yaml", "dashboard.yaml")
	for _, name := range []string{"rules_test.yaml", "deletions_test.yaml"} {
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		run("test", "rules", name)
	}
}
