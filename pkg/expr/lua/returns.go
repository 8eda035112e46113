// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"reflect"
	"slices"

	"github.com/yuin/gopher-lua/ast"
)

// NoReturn is the line of a script in which its function can end and return nothing: a return without a value, or the
// function's end. It is 0 when every path through the function ends in a return or in error(...), and where the text
// does not show it: the script does not compile, sets the function more than once or not plainly, or has a goto.
func NoReturn(source, function string) (line int) {
	statements, ok := parsed(source)
	if !ok {
		return 0
	}
	defined := definition(statements, function)
	if defined == nil {
		return 0
	}
	jumps := false
	visit(reflect.ValueOf(defined.Stmts), func(node any) bool {
		switch node := node.(type) {
		case *ast.FunctionExpr:
			return true
		case *ast.GotoStmt:
			jumps = true
		case *ast.ReturnStmt:
			if line == 0 && isNothing(node.Exprs) {
				line = node.Line()
			}
		}
		return false
	})
	switch {
	case jumps:
		return 0
	case line == 0 && !stops(defined.Stmts):
		return defined.LastLine()
	}
	return line
}

// isNothing reports whether a return has no value.
func isNothing(values []ast.Expr) bool {
	if len(values) == 0 {
		return true
	}
	_, isNil := values[0].(*ast.NilExpr)
	return isNil
}

// definition is the only place in a script that sets a global function. Nil when there is none, or another one.
func definition(statements []ast.Stmt, function string) *ast.FunctionExpr {
	times := 0
	var found *ast.FunctionExpr
	visit(reflect.ValueOf(statements), func(node any) bool {
		if slices.Contains(setBy(node), function) {
			times++
		}
		return false
	})
	for _, statement := range statements {
		switch s := statement.(type) {
		case *ast.FuncDefStmt:
			if slices.Contains(setBy(s.Name), function) {
				found = s.Func
			}
		case *ast.AssignStmt:
			if len(s.Rhs) == 1 && slices.Contains(setBy(s), function) {
				found, _ = s.Rhs[0].(*ast.FunctionExpr)
			}
		}
	}
	if times != 1 {
		return nil
	}
	return found
}

// stops reports whether a block is always left before its end.
func stops(block []ast.Stmt) bool { return slices.ContainsFunc(block, isLast) }

// isLast reports whether no path leads from a statement to the next one.
func isLast(statement ast.Stmt) bool {
	switch s := statement.(type) {
	case *ast.ReturnStmt, *ast.BreakStmt:
		return true
	case *ast.FuncCallStmt:
		return isError(s.Expr)
	case *ast.DoBlockStmt:
		return stops(s.Stmts)
	case *ast.IfStmt:
		return stops(s.Then) && (stops(s.Else) || isTrue(s.Condition))
	}
	return isEndless(statement)
}

// isEndless reports whether a statement is a loop that only a return or an error ends.
func isEndless(statement ast.Stmt) bool {
	switch s := statement.(type) {
	case *ast.WhileStmt:
		return isTrue(s.Condition) && !breaks(s.Stmts)
	case *ast.RepeatStmt:
		return (stops(s.Stmts) || isFalse(s.Condition)) && !breaks(s.Stmts)
	}
	return false
}

// breaks reports whether a loop's body leaves this loop, and not only one in it.
func breaks(body []ast.Stmt) (found bool) {
	visit(reflect.ValueOf(body), func(node any) bool {
		switch node.(type) {
		case *ast.BreakStmt:
			found = true
		case *ast.FunctionExpr, *ast.WhileStmt, *ast.RepeatStmt, *ast.NumberForStmt, *ast.GenericForStmt:
			return true
		}
		return false
	})
	return found
}

func isError(e ast.Expr) bool {
	call, ok := e.(*ast.FuncCallExpr)
	if !ok {
		return false
	}
	name, ok := call.Func.(*ast.IdentExpr)
	return ok && name.Value == "error"
}

func isTrue(e ast.Expr) bool {
	switch e.(type) {
	case *ast.TrueExpr, *ast.NumberExpr, *ast.StringExpr:
		return true
	}
	return false
}

func isFalse(e ast.Expr) bool {
	switch e.(type) {
	case *ast.FalseExpr, *ast.NilExpr:
		return true
	}
	return false
}
