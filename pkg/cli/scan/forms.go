// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// columns are the fields of one finding in a table for programs.
func columns(f *search.Finding) []string {
	state, volumes, balancers := "known", "", ""
	if len(f.Of.Unknown) > 0 {
		state = "unknown"
	}
	if f.Frees != nil {
		volumes, balancers = fmt.Sprint(f.Frees.VolumeBytes), fmt.Sprint(f.Frees.LoadBalancers)
	}
	stamp := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	return []string{
		state,
		string(f.Type),
		f.APIVersion,
		f.Kind,
		f.Namespace,
		f.Name,
		stamp(f.Created),
		stamp(f.Since),
		string(f.Confidence),
		f.ManagedBy,
		volumes,
		balancers,
		f.Why(),
	}
}

// printCSV prints findings for a spreadsheet, which must not take any of it for a formula.
func (j *job) printCSV(r *Result) error {
	w := csv.NewWriter(j.Out)
	rows := [][]string{
		{
			"state",
			"type",
			"apiVersion",
			"kind",
			"namespace",
			"name",
			"created",
			"since",
			"confidence",
			"managedBy",
			"volumeBytes",
			"loadBalancers",
			"why",
		},
	}
	for _, f := range slices.Concat(r.Findings, r.Unknown) {
		row := columns(&f)
		for i, text := range row {
			if row[i] = terminal.OneLine(text); strings.ContainsAny(row[i][:min(1, len(row[i]))], "=+-@") {
				row[i] = "'" + row[i]
			}
		}
		rows = append(rows, row)
	}
	return w.WriteAll(rows)
}

// printMarkdown prints a report for a ticket or a page.
func (j *job) printMarkdown(r *Result) {
	where := "the cluster"
	if j.Namespace != "" {
		where = "namespace " + markdown(j.Namespace)
	}
	fmt.Fprintf(j.Out, "# Findings in %s\n\n%s\n", where, markdown(j.summary(r)))
	section := func(title string, findings []search.Finding) {
		if len(findings) == 0 {
			return
		}
		fmt.Fprintf(j.Out, "\n## %s\n\n| Type | Kind | Namespace | Name | Age | Why |\n|---|---|---|---|---|---|\n", title)
		for i := range findings {
			f := &findings[i]
			cells := []string{string(f.Type), f.Kind, f.Namespace, f.Name, j.ago(f.Created), f.WhyAndManager()}
			for i := range cells {
				cells[i] = markdown(cells[i])
			}
			fmt.Fprintf(j.Out, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	section("Found", r.Findings)
	for _, unknown := range r.unknownSections() {
		section(unknown.name+": "+unknown.title, unknown.of)
	}
}

// markdown keeps what others wrote from being read as markup.
func markdown(text string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "<", "&lt;", "&",
		"&amp;").
		Replace(terminal.OneLine(text))
}
