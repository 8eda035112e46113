// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// words are what the title of a panel cannot have as the name of a rule.
var words = regexp.MustCompile(`[^a-z]+`)

// TestPromtool tries the rules with Prometheus' own rule tester, and parses every expression of the dashboard with its parser. make
// alerts builds promtool, which takes minutes: without it, the test is skipped, but not in CI.
func TestPromtool(t *testing.T) {
	promtool := os.Getenv("PROMTOOL")
	if promtool == "" {
		const missing = "no PROMTOOL: make alerts builds it and runs this test"
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
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
			queries = append(queries, rule{Record: "panel:" + words.ReplaceAllString(strings.ToLower(p.Title), "_") + ":" + target.RefID, Expr: variables.Replace(target.Expr)})
		}
	}
	write("dashboard.yaml", map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": queries}}})
	run("check", "rules", "--lint=all", "rules.yaml", "dashboard.yaml")
	for _, name := range []string{"rules_test.yaml", "deletions_test.yaml", "dashboard_test.yaml"} {
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
