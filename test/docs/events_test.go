// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestEvents checks that docs/reference/events.md has each reason of an Event that the code writes, and none that is nowhere in the code.
func TestEvents(t *testing.T) {
	page, err := os.ReadFile(root + "/docs/reference/events.md")
	if err != nil {
		t.Fatal(err)
	}
	onPage := map[string]bool{"Completed": true, "LimitExceeded": true} // examples of the reasons of runs
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(string(page), -1) {
		for _, reason := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[1], -1) {
			onPage[reason[1]] = true
		}
	}
	written, literals := reasonsOfEvents(t, "controllers", "pkg/dashboard")
	if len(written) < 8 {
		t.Fatalf("only %d reasons are in the code: %v", len(written), written)
	}
	for reason := range written {
		if !onPage[reason] {
			t.Errorf("docs/reference/events.md has no row on %s", reason)
		}
	}
	for reason := range onPage {
		if !literals[reason] {
			t.Errorf("docs/reference/events.md has %s, which is nowhere in the code", reason)
		}
	}
}

// reasonsOfEvents are the reasons of Events in the code of these directories: arguments of Eventf, and reasons of what somebody did on
// the page. Literals are all texts of that code and of the API.
func reasonsOfEvents(t *testing.T, dirs ...string) (written, literals map[string]bool) {
	t.Helper()
	written, literals = map[string]bool{}, map[string]bool{}
	names := map[string]string{}
	each := func(dir string, look func(ast.Node)) {
		files, err := filepath.Glob(root + "/" + dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool { look(n); return true })
		}
	}
	literal := func(n ast.Node) string {
		switch n := n.(type) {
		case *ast.BasicLit:
			text, _ := strconv.Unquote(n.Value)
			return text
		case *ast.SelectorExpr:
			return names[n.Sel.Name]
		}
		return ""
	}
	each("api/v1alpha1", func(n ast.Node) {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == 1 && len(spec.Values) == 1 {
			names[spec.Names[0].Name] = literal(spec.Values[0])
			literals[literal(spec.Values[0])] = true
		}
	})
	for _, dir := range dirs {
		each(dir, func(n ast.Node) {
			reason := ""
			switch n := n.(type) {
			case *ast.BasicLit:
				literals[literal(n)] = true
			case *ast.CallExpr:
				if called, ok := n.Fun.(*ast.SelectorExpr); ok && called.Sel.Name == "Eventf" {
					reason = literal(n.Args[3])
				}
			case *ast.CompositeLit:
				if of, ok := n.Type.(*ast.Ident); ok && of.Name == "deed" && len(n.Elts) > 0 {
					reason = literal(n.Elts[0])
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "reason" {
					reason = literal(n.Value)
				}
			}
			if reason != "" {
				written[reason] = true
			}
		})
	}
	return written, literals
}
