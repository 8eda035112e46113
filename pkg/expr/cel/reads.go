// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// ReadsMetadataOnly reports whether the conditions look at nothing of an object but its metadata, kind and apiVersion.
// It is found out from the expressions, whatever they would come to: false is always safe.
func (r *Run) ReadsMetadataOnly() bool { return r.program.metadataOnly }

// readsMetadataOnly compares how often the object is named with how often that is to take one of these fields of it. A
// loop's variable of the same name counts as the object.
func readsMetadataOnly(expression ast.Expr) bool {
	named, plain := 0, 0
	ast.PostOrderVisit(expression, ast.NewExprVisitor(func(e ast.Expr) {
		if isObject(e) {
			named++
		}
		if field, ok := fieldOfObject(e); ok && object.IsInMetadataOnly(field) || readsMarks(e) {
			plain++
		}
	}))
	return named == plain
}

// isObject reports whether an expression is the variable, which may also be written with a dot before it.
func isObject(e ast.Expr) bool {
	return e.Kind() == ast.IdentKind && strings.TrimPrefix(e.AsIdent(), ".") == "object"
}

// looksAt reports whether an expression names a variable. A loop's variable of the same name counts too.
func looksAt(expression ast.Expr, name string) bool {
	found := false
	ast.PostOrderVisit(expression, ast.NewExprVisitor(func(e ast.Expr) {
		found = found || e.Kind() == ast.IdentKind && strings.TrimPrefix(e.AsIdent(), ".") == name
	}))
	return found
}

// fieldOfObject is the field that an expression takes of the object, as object.x, has(object.x), object["x"], object.?x
// or object[?"x"].
func fieldOfObject(e ast.Expr) (string, bool) {
	switch e.Kind() {
	case ast.SelectKind:
		return e.AsSelect().FieldName(), isObject(e.AsSelect().Operand())
	case ast.CallKind:
		call := e.AsCall()
		switch call.FunctionName() {
		case operators.Index, operators.OptIndex, operators.OptSelect:
		default:
			return "", false
		}
		if call.IsMemberFunction() || len(call.Args()) != 2 || !isObject(call.Args()[0]) ||
			call.Args()[1].Kind() != ast.LiteralKind {
			return "", false
		}
		name, ok := call.Args()[1].AsLiteral().(types.String)
		return string(name), ok
	}
	return "", false
}
