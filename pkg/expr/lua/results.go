// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"reflect"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

// NoTable is the first return of a script's function with what is surely no table, and what that is. It is empty when
// there is none, and where NoReturn does not judge.
func NoTable(source, function string) (what string, line int) {
	for _, result := range returned(source, function) {
		if what = knownType(result.value); what != "" && what != aTable {
			return what, result.line
		}
	}
	return "", 0
}

// Unread is the first field in a table that a script's function returns without the field by which the result is
// read, and its line. A table that has only the others, such as a message, is meant to say nothing.
func Unread(source, function, field string, others ...string) (name string, line int) {
	for _, result := range returned(source, function) {
		table, ok := result.value.(*ast.TableExpr)
		if !ok {
			continue
		}
		var names []string
		isKnown := true
		for _, f := range table.Fields {
			key, isText := f.Key.(*ast.StringExpr)
			isKnown = isKnown && (isText || !mayBe(f.Key, field))
			if isText && !hasFold(others, key.Value) {
				names = append(names, key.Value)
			}
		}
		if isKnown && len(names) > 0 && !hasFold(names, field) {
			return names[0], result.line
		}
	}
	return "", 0
}

// Sets reports whether a script sets a field of that name, or may do so: it also sets fields whose names the text does
// not show it. A script that does not compile may do anything.
func Sets(source, field string) (found bool) {
	statements, ok := parsed(source)
	if !ok {
		return true
	}
	visit(reflect.ValueOf(statements), func(node any) bool {
		name, isName := node.(*ast.IdentExpr)
		found = found || isName && name.Value == "rawset" || slices.ContainsFunc(keysSetBy(node), func(key ast.Expr) bool {
			return mayBe(key, field)
		})
		return found
	})
	return found
}

// keysSetBy are the keys of tables that a part of a script gives a value.
func keysSetBy(node any) (keys []ast.Expr) {
	switch node := node.(type) {
	case *ast.Field:
		return []ast.Expr{node.Key}
	case *ast.AssignStmt:
		for _, target := range node.Lhs {
			if e, ok := target.(*ast.AttrGetExpr); ok {
				keys = append(keys, e.Key)
			}
		}
	}
	return keys
}

// result is the value of a return, and its line.
type result struct {
	value ast.Expr
	line  int
}

// returned are the values that a function returns, from the top down. Functions in it return to it.
func returned(source, function string) (results []result) {
	statements, ok := parsed(source)
	if !ok {
		return nil
	}
	defined := definition(statements, function)
	if defined == nil {
		return nil
	}
	visit(reflect.ValueOf(defined.Stmts), func(node any) bool {
		if r, ok := node.(*ast.ReturnStmt); ok && len(r.Exprs) > 0 {
			results = append(results, result{r.Exprs[0], r.Line()})
		}
		_, isInner := node.(*ast.FunctionExpr)
		return isInner
	})
	return results
}

const (
	aBoolean = "a boolean"
	aTable   = "a table"
)

// knownType is of what type a value surely is, as far as the text shows. Empty for all else.
func knownType(value ast.Expr) string {
	switch value.(type) {
	case *ast.TrueExpr, *ast.FalseExpr, *ast.RelationalOpExpr, *ast.UnaryNotOpExpr:
		return aBoolean
	case *ast.NumberExpr:
		return "a number"
	case *ast.StringExpr:
		return "a text"
	case *ast.TableExpr:
		return aTable
	}
	return ""
}

// hasFold reports whether the name is among others, in whatever case: so results are read.
func hasFold(others []string, name string) bool {
	return slices.ContainsFunc(others, func(other string) bool { return strings.EqualFold(other, name) })
}

// mayBe reports whether a key is that name, in whatever case, as far as the text shows.
func mayBe(key ast.Expr, name string) bool {
	switch k := key.(type) {
	case *ast.StringExpr:
		return strings.EqualFold(k.Value, name)
	case nil, *ast.NumberExpr, *ast.ArithmeticOpExpr, *ast.UnaryLenOpExpr:
		return false // a place in a list
	}
	return true
}
