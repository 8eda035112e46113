// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"reflect"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// ReadsMetadataOnly reports whether evaluate looks at nothing of an object but its metadata, kind and apiVersion. It is found out
// from the text alone, whatever the script would do: false is always safe. True means that the object is named in no way but
// obj.metadata, obj.kind or obj.apiVersion (or obj["metadata"]), that evaluate is a plain function without parameters, since it
// gets the object as an argument too, and that nothing is named by which the globals can be reached in another way.
func ReadsMetadataOnly(source string) (only bool) {
	if len(source) > MaxSource {
		return false
	}
	defer func() { // the parser panics with what is not foreseen
		if recover() != nil {
			only = false
		}
	}()
	statements, err := parse.Parse(strings.NewReader(source), chunkName)
	if err != nil || checkNesting(statements) != nil {
		return false
	}
	return !mayReadMore(reflect.ValueOf(statements))
}

// ways are the names by which a script could get hold of the whole object. Most of them do not exist for scripts: should one
// be allowed one day, it is known here.
var ways = map[string]bool{
	"obj": true, "evaluate": true, "_G": true, "_ENV": true, "getfenv": true, "setfenv": true, "load": true, "loadstring": true,
	"loadfile": true, "dofile": true, "require": true, "module": true, "package": true, "debug": true, "coroutine": true, "newproxy": true,
}

// mayReadMore walks a syntax tree of any shape, as deeper does, and finds the names that are not used in a known way. A local
// variable of such a name counts too.
func mayReadMore(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Interface:
		return mayReadMore(v.Elem())
	case reflect.Pointer:
		if v.IsNil() {
			return false
		}
		switch node := v.Interface().(type) {
		case *ast.IdentExpr:
			return ways[node.Value]
		case *ast.AttrGetExpr:
			if isMetadataOnly(node) {
				return false
			}
		case *ast.FuncDefStmt:
			if isPlainEvaluate(node) {
				return mayReadMore(reflect.ValueOf(node.Func))
			}
		}
		return mayReadMore(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			if mayReadMore(v.Index(i)) {
				return true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if mayReadMore(v.Field(i)) {
				return true
			}
		}
	}
	return false
}

// isMetadataOnly reports whether an expression takes a field of obj that is known.
func isMetadataOnly(e *ast.AttrGetExpr) bool {
	name, isName := e.Object.(*ast.IdentExpr)
	key, isConstant := e.Key.(*ast.StringExpr)
	return isName && isConstant && name.Value == "obj" && object.IsInMetadataOnly(key.Value)
}

// isPlainEvaluate reports whether a statement is function evaluate() ... end.
func isPlainEvaluate(s *ast.FuncDefStmt) bool {
	if s.Name == nil || s.Name.Receiver != nil || s.Func == nil || s.Func.ParList == nil {
		return false
	}
	name, ok := s.Name.Func.(*ast.IdentExpr)
	return ok && name.Value == "evaluate" && len(s.Func.ParList.Names) == 0 && !s.Func.ParList.HasVargs
}
