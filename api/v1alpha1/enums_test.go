// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The API server refuses a status with a word that the enum of its type does not have: then nobody learns what a run did. So a type has
// an enum, and the enum is its constants.
func TestEnumsAreTheConstants(t *testing.T) {
	t.Parallel()
	enums, constants := map[string][]string{}, map[string][]string{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			if d, ok := declaration.(*ast.GenDecl); ok {
				enumsOf(d, enums)
				constantsOf(t, d, constants)
			}
		}
	}
	if len(enums) < 11 {
		t.Errorf("only %d types were found: %v", len(enums), enums)
	}
	if diff := cmp.Diff(constants, enums); diff != "" {
		t.Errorf("the enums of the types (-constants +enums):\n%s", diff)
	}
}

// enumsOf finds the types that are strings, with the words of their enums, sorted.
func enumsOf(d *ast.GenDecl, enums map[string][]string) {
	for _, spec := range d.Specs {
		s, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		if of, ok := s.Type.(*ast.Ident); !ok || of.Name != "string" {
			continue
		}
		for _, comment := range d.Doc.List {
			if list, ok := strings.CutPrefix(comment.Text, "// +kubebuilder:validation:Enum="); ok {
				enums[s.Name.Name] = slices.Sorted(strings.SplitSeq(list, ";"))
			}
		}
	}
}

// constantsOf finds the constants that have a type, sorted.
func constantsOf(t *testing.T, d *ast.GenDecl, constants map[string][]string) {
	t.Helper()
	for _, spec := range d.Specs {
		s, ok := spec.(*ast.ValueSpec)
		if !ok || d.Tok != token.CONST {
			continue
		}
		if of, ok := s.Type.(*ast.Ident); ok {
			text, err := strconv.Unquote(s.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			constants[of.Name] = append(constants[of.Name], text)
			slices.Sort(constants[of.Name])
		}
	}
}
