// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Missing is a field that a condition reads and that an object may not have. On such an object the condition is an
// error.
type Missing struct {
	// Condition is the condition's index, and Line and Column where the field stands in its expression, counted from 1.
	Condition, Line, Column int
	// Path is the field as the expression writes it: object.status.reason.
	Path string
}

// MissingFields are the optional fields of a schema that conditions read without asking first whether they are there. A
// field counts as asked for when any of the conditions does so: the order in which conditions are combined does not
// matter, so none is reported that is none. Conditions that do not compile have none.
func MissingFields(conditions []v1alpha1.MatchCondition, schema *spec.Schema, inputs ...Input) ([]Missing, error) {
	var found []Missing
	asked := map[string]bool{}
	for i, condition := range conditions {
		known := newSchemaTypes()
		env, err := newEnv(
			append(
				variablesOf(inputs),
				celgo.Variable("object", known.typeOf("object", withMetadata(schema))),
				provide(known),
			)...)
		if err != nil {
			return nil, fmt.Errorf("making the CEL environment: %w", err)
		}
		parsed, issues := env.Parse(condition.Expression)
		if issues.Err() != nil {
			continue
		}
		plain(parsed)
		checked, issues := env.Check(parsed)
		if issues.Err() != nil {
			continue
		}
		read := reading{types: known, checked: checked.NativeRep(), asked: asked}
		read.all()
		for _, missing := range read.found {
			missing.Condition = i
			found = append(found, missing)
		}
	}
	return slices.DeleteFunc(found, func(m Missing) bool { return asked[m.Path] }), nil
}

// reading goes through one expression.
type reading struct {
	types   *schemaTypes
	checked *ast.AST
	asked   map[string]bool
	found   []Missing
}

func (r *reading) all() {
	seen := map[string]bool{}
	ast.PostOrderVisit(r.checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case e.Kind() == ast.CallKind:
			r.call(e.AsCall())
		case e.Kind() != ast.SelectKind:
		case e.AsSelect().IsTestOnly():
			r.asked[pathOf(e)] = true
		case r.isOptional(e.AsSelect()):
			path := pathOf(e)
			if path == "" || seen[path] {
				return
			}
			seen[path] = true
			at := r.checked.SourceInfo().GetStartLocation(e.ID())
			r.found = append(r.found, Missing{Line: max(1, at.Line()), Column: at.Column() + 1, Path: path})
		}
	}))
}

// call takes down what a call asks for: "name" in object.metadata.labels, and object.?status.
func (r *reading) call(call ast.CallExpr) {
	args := call.Args()
	if len(args) != 2 {
		return
	}
	of, name := args[0], args[1]
	switch call.FunctionName() {
	case operators.In:
		of, name = name, of
	case operators.OptSelect:
	default:
		return
	}
	if name.Kind() != ast.LiteralKind {
		return
	}
	if text, ok := name.AsLiteral().(types.String); ok {
		r.asked[below(pathOf(of), string(text))] = true
	}
}

// isOptional reports whether the field of a selection may be missing. A map of the object's, such as its labels, need
// not have any key; what inputs have is not known here.
func (r *reading) isOptional(selected ast.SelectExpr) bool {
	of := r.checked.GetType(selected.Operand().ID())
	if of.Kind() == types.MapKind {
		return strings.HasPrefix(pathOf(selected.Operand()), "object.")
	}
	schema, ok := r.types.objects[of.TypeName()]
	if !ok || slices.Contains(schema.Required, selected.FieldName()) {
		return false
	}
	property, ok := schema.Properties[selected.FieldName()]
	return ok && property.Default == nil
}

// pathOf writes what an expression selects: object.spec.containers[0].name, or containers[] where the index is no
// number. It is empty for what is not made of names.
func pathOf(e ast.Expr) string {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent()
	case ast.SelectKind:
		if of := pathOf(e.AsSelect().Operand()); of != "" {
			return below(of, e.AsSelect().FieldName())
		}
	case ast.CallKind:
		if call := e.AsCall(); call.FunctionName() == operators.Index {
			if of := pathOf(call.Args()[0]); of != "" {
				return of + "[" + numberIn(call.Args()[1]) + "]"
			}
		}
	}
	return ""
}

// numberIn is the number that an expression is. Empty for any other.
func numberIn(e ast.Expr) string {
	if e.Kind() == ast.LiteralKind {
		if n, ok := e.AsLiteral().(types.Int); ok {
			return strconv.FormatInt(int64(n), 10)
		}
	}
	return ""
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func below(path, name string) string {
	if plainName.MatchString(name) {
		return path + "." + name
	}
	return path + "[" + strconv.Quote(name) + "]"
}
