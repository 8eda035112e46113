// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/reference/metrics.md anew")

// docs is the page on the metrics. Its table is between these lines.
const (
	docs   = "../../docs/reference/metrics.md"
	before = "| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n"
	after  = "\n\n<!-- end of the table -->"
)

// TestEveryMetricIsDocumented: go test ./pkg/metrics -update writes the table.
func TestEveryMetricIsDocumented(t *testing.T) {
	registry, _ := filled("a")
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, family := range families {
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", family.GetName(), strings.ToLower(family.GetType().String()), strings.Join(labels, ", "), family.GetHelp()))
	}
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), before)
	table, tail, ended := strings.Cut(rest, after)
	if !found || !ended {
		t.Fatalf("%s has no table of metrics", docs)
	}
	want := strings.Join(rows, "\n")
	if *update {
		if err := os.WriteFile(docs, []byte(head+before+want+after+tail), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != want {
		t.Errorf("the table of %s differs: go test ./pkg/metrics -update writes it; want\n%s", docs, want)
	}
}

// TestPhasesAreDocumented: the pages that list the phases of a run name each as the metric does, and no other.
func TestPhasesAreDocumented(t *testing.T) {
	list := regexp.MustCompile("`list`[^.]*`act` and `\\w+`")
	var want []string
	for _, stage := range []Stage{StageList, StageJudge, StageRecord, StageAct, StageNotify} {
		want = append(want, "`"+string(stage)+"`")
	}
	for _, page := range []string{"long-runs.md", "monitoring.md"} {
		text, err := os.ReadFile("../../docs/how-to/" + page)
		if err != nil {
			t.Fatal(err)
		}
		if got := regexp.MustCompile("`\\w+`").FindAllString(list.FindString(string(text)), -1); !slices.Equal(got, want) {
			t.Errorf("%s lists the phases %v, want %v", page, got, want)
		}
	}
}
