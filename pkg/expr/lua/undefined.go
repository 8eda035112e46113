// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"reflect"
	"slices"

	"github.com/yuin/gopher-lua/ast"
)

// Undefined is the first of the names that a script uses and sets nowhere, and its line, counted from 1. Empty when
// there is none, or the script does not compile.
func Undefined(source string, names []string) (name string, line int) {
	statements, ok := parsed(source)
	if !ok {
		return "", 0
	}
	var used []*ast.IdentExpr
	set := map[string]bool{}
	visit(reflect.ValueOf(statements), func(node any) bool {
		if ident, ok := node.(*ast.IdentExpr); ok && slices.Contains(names, ident.Value) {
			used = append(used, ident)
		}
		for _, name := range setBy(node) {
			set[name] = true
		}
		return false
	})
	for _, ident := range used {
		if !set[ident.Value] {
			return ident.Value, ident.Line()
		}
	}
	return "", 0
}

// Unknown is the first field that a script takes of a global table and that the table does not have, and its line. It
// is empty when there is none, or the script sets that name itself.
func Unknown(source, table string, fields []string) (field string, line int) {
	statements, ok := parsed(source)
	if !ok {
		return "", 0
	}
	isOwn := false
	visit(reflect.ValueOf(statements), func(node any) bool {
		isOwn = isOwn || slices.Contains(setBy(node), table)
		e, ok := node.(*ast.AttrGetExpr)
		if !ok || field != "" {
			return false
		}
		name, isName := e.Object.(*ast.IdentExpr)
		key, isConstant := e.Key.(*ast.StringExpr)
		if isName && isConstant && name.Value == table && !slices.Contains(fields, key.Value) {
			field, line = key.Value, name.Line()
		}
		return false
	})
	if isOwn {
		return "", 0
	}
	return field, line
}

// parsed is the syntax tree of a script. There is none for a script that does not compile: Compile says why.
func parsed(source string) (statements []ast.Stmt, ok bool) {
	if len(source) > MaxSource {
		return nil, false
	}
	err := caught("the parser", func() (err error) {
		statements, err = parseNested(source)
		return err
	})
	return statements, err == nil
}

// setBy are the names that a part of a script gives a value.
func setBy(node any) []string {
	var targets []ast.Expr
	switch node := node.(type) {
	case *ast.LocalAssignStmt:
		return node.Names
	case *ast.ParList:
		return node.Names
	case *ast.NumberForStmt:
		return []string{node.Name}
	case *ast.GenericForStmt:
		return node.Names
	case *ast.AssignStmt:
		targets = node.Lhs
	case *ast.FuncName:
		targets = []ast.Expr{node.Func}
	}
	var names []string
	for _, target := range targets {
		if ident, ok := target.(*ast.IdentExpr); ok {
			names = append(names, ident.Value)
		}
	}
	return names
}
