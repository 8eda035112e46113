// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"reflect"
	"slices"

	"github.com/yuin/gopher-lua/ast"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// MaxFields is how many fields at the root of an object are distinguished. Kinds have half a dozen.
	MaxFields = 16
	// MaxField is how long their names are at most, in bytes.
	MaxField = 256
)

// Reads finds out which part of an object evaluate may look at. It is found out from the text alone, whatever the
// script would do: the whole object is always safe. Less means that the object is named in no way but obj.spec or
// obj["spec"], with any fixed name of a field, that evaluate is a plain function without parameters, since it gets the
// object as an argument too, and that nothing is named by which the globals can be reached in another way. What
// evaluate does with the fields does not matter, if it does not set them; those of metadata are distinguished as
// well where none is used but obj.metadata.name and the like.
//
// The text does not show what the interpreter makes of it, and its compiler has faults by which a script gets at the
// object in another way. So who gives a script a part must notice when it looks further: see EvaluatePart.
func Reads(source string) object.Part {
	statements, ok := parsed(source)
	if !ok {
		return object.Part{}
	}
	r := reading{object.Part{Narrow: true}}
	r.walk(reflect.ValueOf(statements))
	slices.Sort(r.part.Fields)
	if !r.part.Narrow || len(r.part.Fields) > MaxFields {
		return object.Part{}
	}
	return r.part
}

// ways are the names by which a script could get hold of the whole object. Most of them do not exist for scripts:
// should one be allowed one day, it is known here.
var ways = map[string]bool{
	"obj":        true,
	"evaluate":   true,
	"_G":         true,
	"_ENV":       true,
	"getfenv":    true,
	"setfenv":    true,
	"load":       true,
	"loadstring": true,
	"loadfile":   true,
	"dofile":     true,
	"require":    true,
	"module":     true,
	"package":    true,
	"debug":      true,
	"coroutine":  true,
	"newproxy":   true,
}

// reading is what was found so far.
type reading struct{ part object.Part }

// walk finds the names that are not used in a known way. A local variable of such a name counts too.
func (r *reading) walk(v reflect.Value) { visit(v, r.node) }

// visit walks a syntax tree of any shape, as deeper does. done reports that a node needs no
// further look.
func visit(v reflect.Value, done func(node any) bool) {
	switch v.Kind() {
	case reflect.Interface:
		visit(v.Elem(), done)
	case reflect.Pointer:
		if !v.IsNil() && !done(v.Interface()) {
			visit(v.Elem(), done)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), done)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			visit(v.Field(i), done)
		}
	}
}

// node notes what a node says, and reports whether there is nothing more in it.
func (r *reading) node(node any) (done bool) {
	switch node := node.(type) {
	case *ast.IdentExpr:
		r.part.Narrow = r.part.Narrow && !ways[node.Value]
		if node.Value == "math" {
			r.add("metadata") // random numbers depend on the object's uid
		}
	case *ast.AttrGetExpr:
		return r.field(node)
	case *ast.AssignStmt:
		for _, target := range node.Lhs {
			r.set(target)
		}
	case *ast.FuncDefStmt:
		if isPlainEvaluate(node) {
			r.walk(reflect.ValueOf(node.Func))
			return true
		}
		if node.Name != nil {
			r.set(node.Name.Func)
		}
	}
	return false
}

// field notes what an expression takes of obj, and reports whether it is that and nothing else.
func (r *reading) field(e *ast.AttrGetExpr) bool {
	key, isConstant := e.Key.(*ast.StringExpr)
	if !isConstant {
		return false
	}
	if outer, ok := e.Object.(*ast.AttrGetExpr); ok && isField(outer, "metadata") {
		r.add("metadata")
		r.part.ManagedFields = r.part.ManagedFields || key.Value == "managedFields"
		return true
	}
	if !isField(e, key.Value) {
		return false
	}
	r.add(key.Value)
	r.part.ManagedFields = r.part.ManagedFields || key.Value == "metadata" // whatever becomes of it
	return true
}

// set notes what a statement sets: a table of which a field is set is made plain, and then all of its fields are looked
// at.
func (r *reading) set(target ast.Expr) {
	e, ok := target.(*ast.AttrGetExpr)
	if !ok {
		return
	}
	if name, ok := e.Object.(*ast.IdentExpr); ok && name.Value == "obj" {
		r.part.Narrow = false
	}
	if outer, ok := e.Object.(*ast.AttrGetExpr); ok && isField(outer, "metadata") {
		r.part.ManagedFields = true
	}
}

func (r *reading) add(field string) {
	r.part.Narrow = r.part.Narrow && len(field) <= MaxField
	if !slices.Contains(r.part.Fields, field) {
		r.part.Fields = append(r.part.Fields, field)
	}
}

// isField reports whether an expression takes the field of obj.
func isField(e *ast.AttrGetExpr, field string) bool {
	name, isName := e.Object.(*ast.IdentExpr)
	key, isConstant := e.Key.(*ast.StringExpr)
	return isName && isConstant && name.Value == "obj" && key.Value == field
}

// isPlainEvaluate reports whether a statement is function evaluate() ... end.
func isPlainEvaluate(s *ast.FuncDefStmt) bool {
	if s.Name == nil || s.Name.Receiver != nil || s.Func == nil || s.Func.ParList == nil {
		return false
	}
	name, ok := s.Name.Func.(*ast.IdentExpr)
	return ok && name.Value == "evaluate" && len(s.Func.ParList.Names) == 0 && !s.Func.ParList.HasVargs
}
