// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"reflect"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

// absent are the functions of gopher-lua, and its libraries, that scripts do not have here.
var absent = []string{
	"channel", "collectgarbage", "coroutine", "debug", "dofile", "getfenv", "io", "load", "loadfile", "loadstring",
	"module", "newproxy", "os.clock", "os.execute", "os.exit", "os.getenv", "os.remove", "os.rename", "os.setenv",
	"os.setlocale", "os.tmpname", "package", "require", "setfenv", "string.dump",
}

// Absent is the first function that a script calls and that Lua has elsewhere but not here, and its line. It is empty
// when there is none, or the script sets that name itself.
func Absent(source string) (function string, line int) {
	statements, ok := parsed(source)
	if !ok {
		return "", 0
	}
	var called []*ast.FuncCallExpr
	set := map[string]bool{}
	visit(reflect.ValueOf(statements), func(node any) bool {
		for _, name := range setBy(node) {
			set[name] = true
		}
		switch node := node.(type) {
		case *ast.FuncCallExpr:
			called = append(called, node)
		case *ast.FuncName:
			set[dotted(node.Func)] = true
		case *ast.AssignStmt:
			for _, target := range node.Lhs {
				set[dotted(target)] = true
			}
		}
		return false
	})
	for _, call := range called {
		name := dotted(call.Func)
		library, _, _ := strings.Cut(name, ".")
		if isAbsent(name, library) && !set[name] && !set[library] {
			return name, call.Line()
		}
	}
	return "", 0
}

func isAbsent(name, library string) bool {
	return slices.Contains(absent, name) || slices.Contains(absent, library)
}

// dotted is the name of a global, or of its field: os.clock. It is empty for all else.
func dotted(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return e.Value
	case *ast.AttrGetExpr:
		object, isName := e.Object.(*ast.IdentExpr)
		key, isConstant := e.Key.(*ast.StringExpr)
		if isName && isConstant {
			return object.Value + "." + key.Value
		}
	}
	return ""
}
