// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package monitoring checks the alerts and the dashboard against the metrics that there are.
package monitoring

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	rulesFile     = "../../config/prometheus/rules.yaml"
	dashboardFile = "../../config/grafana/dashboard.json"
	runbooks      = "../../docs/how-to/runbooks.md"
	runbookURL    = "https://github.com/kubecleaner/kubecleaner/blob/main/docs/how-to/runbooks.md#"
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
	Targets     []struct {
		RefID, Expr, LegendFormat string
		Datasource                map[string]string
	}
}

func readDashboard(t *testing.T) []panel {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		UID, Title, Refresh string
		SchemaVersion       int
		Time                struct{ From, To string }
		Templating          struct {
			List []struct {
				Name, Type string
				Query      any
				Datasource map[string]string
			}
		}
		Panels []panel
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	if board.UID == "" || board.Title == "" || len(board.Templating.List) != 2 || len(board.Panels) == 0 {
		t.Fatalf("the dashboard is %+v", board)
	}
	// What Grafana refuses to load, or loads without data: since version 36 a data source is an object, and a UID has 40 characters.
	if board.SchemaVersion < 36 || len(board.UID) > 40 || board.Time.From == "" || board.Time.To == "" || board.Refresh == "" {
		t.Errorf("the dashboard is %+v", board)
	}
	source, cleaner := board.Templating.List[0], board.Templating.List[1]
	if source.Name != "datasource" || source.Type != "datasource" || source.Query != "prometheus" {
		t.Errorf("the first variable is %+v, and not the data source, by which the others ask", source)
	}
	if cleaner.Name != "cleaner" || cleaner.Type != "query" || cleaner.Datasource["uid"] != "${datasource}" {
		t.Errorf("the second variable is %+v", cleaner)
	}
	return board.Panels
}

// variable is one in an expression.
var variable = regexp.MustCompile(`\$\{?(\w+)`)

// legend is a label in what a series is called.
var legend = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

// checkTargets checks what is not the concern of Prometheus.
func checkTargets(t *testing.T, p panel) {
	t.Helper()
	ids := map[string]bool{}
	for _, target := range p.Targets {
		if target.RefID == "" || ids[target.RefID] || target.Datasource["uid"] != "${datasource}" || target.Datasource["type"] != "prometheus" {
			t.Errorf("%q has a query without a name of its own or the data source: %+v", p.Title, target)
		}
		ids[target.RefID] = true
		for _, name := range variable.FindAllStringSubmatch(target.Expr, -1) {
			if name[1] != "cleaner" && name[1] != "__rate_interval" {
				t.Errorf("%q asks for a variable that there is not: $%s", p.Title, name[1])
			}
		}
		for _, label := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
			if strings.Contains(target.Expr, " by (") && !regexp.MustCompile(`by \([^)]*\b`+label[1]+`\b`).MatchString(target.Expr) {
				t.Errorf("%q calls its series by the label %s, which they do not have", p.Title, label[1])
			}
		}
		if strings.Contains(target.Expr, "increase(kubecleaner_") && !strings.Contains(target.Expr, " offset $__rate_interval) or increase(") {
			t.Errorf("%q does not show the first fact of a series: %s", p.Title, target.Expr)
		}
	}
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
		if !slices.Contains([]string{"stat", "timeseries", "table"}, p.Type) {
			t.Errorf("%q is a %s, which is none of the panels that come with Grafana", p.Title, p.Type)
		}
		checkTargets(t, p)
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
