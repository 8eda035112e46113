// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestChartIsUpToDate(t *testing.T) {
	files, err := generate("../../config")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("../../charts/kubecleaner", name))
		if err != nil || string(got) != want {
			t.Errorf("charts/kubecleaner/%s is not what hack/chart makes of config (%v): make chart", name, err)
		}
	}
}

// TestRefused: what the generator does not understand is an error, never a wrong template.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"braces":       {"apiVersion: v1\nkind: ClusterRole\nmetadata: {name: a}\nnote: '{{ $labels.a }}'\n", "its braces would be Helm's: copy the text into files/ instead"},
		"unknown kind": {"apiVersion: v1\nkind: Widget\nmetadata: {name: a}\n", "kind Widget: add it to namespaced in hack/chart/sources.go"},
		"no name":      {"apiVersion: v1\nkind: ClusterRole\n", "an object lacks its kind or name"},
		"no object":    {"# nothing\n", "it holds no object"},
		"not YAML":     {"a: [", "yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := source{"a", []string{"a.yaml"}, ""}.template(dir)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "a.yaml") {
				t.Errorf("the error is %v, want one of a.yaml with %q", err, c.want)
			}
		})
	}
}

// TestValues: each value of the chart has a meaning on its page.
func TestValues(t *testing.T) {
	values, err := os.ReadFile("../../charts/kubecleaner/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := valuesPage(values)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "| `") {
			rows++
		}
		if strings.HasSuffix(line, "|  |\n") {
			t.Errorf("no meaning: %s", line)
		}
	}
	if rows < 50 {
		t.Errorf("the page has %d values", rows)
	}
}

func TestValuesPage(t *testing.T) {
	page, err := valuesPage([]byte("# about the file\n\n# -- The | mode:\n#   full   all of it\n#   none   nothing\nmode: full # said\n# a section\nparts:\n  # -- Labels\n  labels: {a: b}\n  list: []\n"))
	want := "| `mode` | `full` | The \\| mode: <br>`full`: all of it <br>`none`: nothing |\n| `parts.labels` | `{a: b}` | Labels |\n| `parts.list` | `[]` |  |\n"
	if err != nil || strings.TrimPrefix(page, valuesHeader) != want {
		t.Errorf("the page is %q (%v), want the rows %q", strings.TrimPrefix(page, valuesHeader), err, want)
	}
	if _, err := valuesPage([]byte("- a")); err == nil {
		t.Error("a list is no values.yaml, and is accepted")
	}
}
