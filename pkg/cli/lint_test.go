// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/lint"
)

// TestLintGolden shows what users see. Each manifest of testdata/lint holds mistakes of one sort.
func TestLintGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/lint/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			args := []string{"lint", "-f", filepath.ToSlash(file)}
			golden(t, "lint-"+strings.TrimSuffix(name, filepath.Ext(name))+".txt", args, call(t.Context(), t, "", nil, args...))
		})
	}
}

func TestLintGoldenOutputs(t *testing.T) {
	for name, args := range map[string][]string{
		"json":       {"lint", "-o", "json", "testdata/lint/list.json", "testdata/lint/scripts.yaml"},
		"colour":     {"lint", "--color", "always", "testdata/lint/k8s-cleaner.yaml", "testdata/lint/scripts.yaml"},
		"strict":     {"lint", "--strict", "testdata/lint/k8s-cleaner.yaml"},
		"samples":    {"lint", "../../config/samples"},
		"tests":      {"lint", "testdata/test/ok"},
		"overlaps":   {"lint", "testdata/overlaps"},
		"schemas":    {"lint", "--schemas", "testdata/schemas", "testdata/schemas/cleaner.yaml"},
		"no-schemas": {"lint", "--schemas", "testdata/schemas/cleaner.yaml", "testdata/schemas/cleaner.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, "lint-as-"+name+".txt", args, call(t.Context(), t, "", nil, args...))
		})
	}
}

// TestLintPlaces counts lines by hand, where the golden files might repeat a mistake.
func TestLintPlaces(t *testing.T) {
	got := call(t.Context(), t, "", nil, "lint", "-o", "json", "testdata/lint/scripts.yaml", "testdata/lint/conditions.yaml", "testdata/lint/unknown-fields.yaml")
	var result struct {
		Problems []struct {
			File, Field, Severity, Code string
			Line, Column                int
		}
	}
	if err := json.Unmarshal([]byte(got.out), &result); err != nil {
		t.Fatalf("%v in:\n%s", err, got.out)
	}
	if len(result.Problems) == 0 {
		t.Fatal("no problems")
	}
	words := map[string]string{ // what stands at the place
		"E-LUA-001 spec.resourcePolicySet.resourceSelectors[0].evaluate":                      `= "Failed"`,
		"E-LUA-001 spec.resourcePolicySet.resourceSelectors[2].evaluate":                      `return {}`,
		"E-LUA-001 spec.resourcePolicySet.resourceSelectors[3].evaluate":                      `end`,
		"E-CEL-001 spec.resourcePolicySet.resourceSelectors[0].matchConditions[1].expression": `objct.metadata`,
		"E-CEL-001 spec.resourcePolicySet.resourceSelectors[0].matchConditions[2].expression": `objct.x`,
		"E-CLN-002 spec.schedul": `schedul:`,
		"E-CLN-002 spec.resourcePolicySet.resourceSelectors[0].labelFilters[0].operator": `operator: Equal`,
	}
	for _, p := range result.Problems {
		key := p.Code + " " + p.Field
		word, ok := words[key]
		if !ok {
			continue
		}
		delete(words, key)
		text, err := os.ReadFile(p.File)
		if err != nil {
			t.Fatal(err)
		}
		line := strings.Split(string(text), "\n")[p.Line-1]
		if p.Column > 0 {
			line = line[p.Column-1:]
		}
		if !strings.HasPrefix(strings.TrimSpace(line), word) {
			t.Errorf("%s:%d:%d: %s: at the place is %q, want %q", p.File, p.Line, p.Column, key, line, word)
		}
	}
	for key := range words {
		t.Errorf("no problem %s", key)
	}
}

const goodCleaner = `
apiVersion: apps.projectsveltos.io/v1alpha1
kind: Cleaner
metadata: {name: good}
spec:
  schedule: "0 3 * * *"
  action: Scan
  resourcePolicySet: {resourceSelectors: [{group: "", version: v1, kind: Pod}]}
`

func TestLintInput(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	linked := filepath.Dir(write("linked/c.yaml", goodCleaner))
	outside := filepath.Dir(write("outside/c.yaml", strings.Replace(goodCleaner, "name: good", "name: better", 1)))
	for name, target := range map[string]string{"more": outside, "again": outside, "loop": linked} {
		if err := os.Symlink(target, filepath.Join(linked, name)); err != nil {
			t.Fatal(err)
		}
	}
	const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	const template = "apiVersion: v1\nkind: ConfigMap\n{{- if .Values.x }}\nmetadata: {name: a}\n{{- end }}\n"
	tests := []struct {
		name, path, stdin string
		want              session
		wantOut, wantErr  string
	}{
		{name: "standard input", path: "-", stdin: goodCleaner, wantOut: "Cleaner good (standard input:2), action Scan", wantErr: "1 Cleaner in 1 file: no problems"},
		{
			name: "fields that only a cluster knows", path: "-", wantOut: "Cleaner good", wantErr: "\nnote: for some kinds, the fields in matchConditions were not checked. ",
			stdin: strings.Replace(goodCleaner, `{group: "", version: v1, kind: Pod}`, `{group: example.com, version: v1, kind: Shop, matchConditions: [{name: a, expression: "object.spec.nod == ''"}]}`, 1),
		},
		{
			name: "with directives, markers and Windows line ends", path: "-",
			stdin:   "\ufeff%YAML 1.2\r\n--- # first\r\n" + strings.ReplaceAll(goodCleaner, "\n", "\r\n") + "...\r\n--- {kind: ConfigMap, apiVersion: v1}\r\n",
			wantOut: "Cleaner good (standard input:4), action Scan", wantErr: "skipped 1 other object: ConfigMap",
		},
		{name: "empty input", path: "-", want: session{code: 1}, wantOut: "standard input:1: error: the file is empty   [E-FIL-003]"},
		{name: "no file", path: filepath.Join(dir, "none"), want: session{code: 1}, wantErr: "error: reading " + filepath.Join(dir, "none") + ": "},
		{name: "a file without Cleaners", path: write("cm.yaml", configMap), want: session{code: 1}, wantOut: "cm.yaml:1: error: there is no Cleaner in this file   [E-FIL-002]"},
		{name: "a directory without Cleaners", path: filepath.Dir(write("no/cm.yaml", configMap)), want: session{code: 1}, wantErr: "error: there is no Cleaner in "},
		{name: "a directory with links", path: linked, wantErr: "2 Cleaners in 2 files: no problems"},
		{name: "a link to a directory", path: filepath.Join(linked, "more"), wantErr: "1 Cleaner in 1 file: no problems"},
		{name: "a directory without manifests", path: filepath.Dir(write("readme/README.md", "x")), want: session{code: 1}, wantErr: "error: there is no .yaml, .yml or .json file in the directory"},
		{
			name: "a directory with others, and a hidden one", path: filepath.Dir(filepath.Dir(write("yes/.git/broken.yaml", "a: b: c") + write("yes/cm.yml", configMap)[:0] + write("yes/below/c.json", "{}")[:0] + write("yes/below/c.yaml", goodCleaner)[:0])),
			wantOut: "Cleaner good", wantErr: "1 Cleaner in 3 files: no problems",
		},
		{
			name: "a directory with a chart", path: filepath.Dir(filepath.Dir(write("chart/templates/cm.yaml", template) + write("chart/c.yaml", goodCleaner)[:0])),
			wantOut: "Cleaner good", wantErr: "templates/cm.yaml: skipped a template\n",
		},
		{
			name: "a template of a Cleaner", path: filepath.Dir(write("templated/c.yaml", strings.Replace(template, "ConfigMap", "Cleaner", 1))), want: session{code: 1},
			wantOut: "the document is not valid YAML: ",
		},
		{name: "a template that is named", path: write("named.yaml", template), want: session{code: 1}, wantOut: "hint: it is a template: "},
		{
			name: "an alias and a merge", path: "-", wantOut: "Cleaner good (standard input:2), action Scan",
			stdin: strings.Replace(goodCleaner, `{resourceSelectors: [{group: "", version: v1, kind: Pod}]}`, `{resourceSelectors: [&pod {group: "", version: v1, kind: Pod}, {<<: *pod, kind: Secret}, *pod]}`, 1),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := call(t.Context(), t, tt.stdin, nil, "lint", "-f", tt.path)
			if got.code != tt.want.code || !strings.Contains(got.out, tt.wantOut) || !strings.Contains(got.errOut, tt.wantErr) {
				t.Errorf("exit %d, want %d; out, want %q:\n%s\nstderr, want %q:\n%s", got.code, tt.want.code, tt.wantOut, got.out, tt.wantErr, got.errOut)
			}
		})
	}
}

// TestLintWithoutMistakes makes sure that no warning comes for what is right.
func TestLintWithoutMistakes(t *testing.T) {
	got := call(t.Context(), t, goodCleaner, nil, "lint", "-o", "json", "-")
	var result lint.Result
	if err := json.Unmarshal([]byte(got.out), &result); err != nil {
		t.Fatal(err)
	}
	if len(result.Problems) > 0 || got.code != 0 {
		t.Errorf("exit %d with %v", got.code, result.Problems)
	}
}
