// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package promtool reads the alerts and the dashboard with Prometheus' own parser, and the dashboard with Grafana's own types. It is
// in the module that promtool is built from, so that the operator's has nothing to do with either; make alerts tries what the rules say.
package promtool

import (
	"encoding/json"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// spec is where the rules of a PrometheusRule begin; they are indented by two.
var spec = regexp.MustCompile(`(?s)^.*\nspec:\n`)

func TestRulesParse(t *testing.T) {
	text, err := os.ReadFile("../../config/prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	groups := strings.ReplaceAll(spec.ReplaceAllString(string(text), ""), "\n  ", "\n")
	all, errs := rulefmt.Parse([]byte(strings.TrimPrefix(groups, "  ")), false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
	rules := 0
	for _, group := range all.Groups {
		rules += len(group.Rules)
	}
	if rules < 10 {
		t.Errorf("there are %d rules", rules)
	}
}

func TestDashboardParses(t *testing.T) {
	text, err := os.ReadFile("../../config/grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	variables, queries := strings.NewReplacer("$__rate_interval", "5m", "$cleaner", ".*"), 0
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			queries++
			if _, err := parser.NewParser(parser.Options{}).ParseExpr(variables.Replace(target.Expr)); err != nil {
				t.Errorf("%q: %v", panel.Title, err)
			}
		}
	}
	if queries < 20 {
		t.Errorf("there are %d queries", queries)
	}
}

// Grafana's own types, strictly: a field or a value that Grafana does not know, in the dashboard, its panels or their queries, is an error.
func TestGrafanaKnowsTheDashboard(t *testing.T) {
	text, err := os.ReadFile("../../config/grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	runtime := cog.NewRuntime()
	runtime.RegisterPanelcfgVariant(stat.VariantConfig())
	runtime.RegisterPanelcfgVariant(table.VariantConfig())
	runtime.RegisterPanelcfgVariant(timeseries.VariantConfig())
	runtime.RegisterDataqueryVariant(prometheus.VariantConfig())
	var board dashboard.Dashboard
	if err := board.UnmarshalJSONStrict(text); err != nil {
		t.Error(err)
	}
	if err := board.Validate(); err != nil {
		t.Error(err)
	}
	if len(board.Panels) < 10 {
		t.Errorf("there are %d panels", len(board.Panels))
	}
}
