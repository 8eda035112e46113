// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"fmt"
	"reflect"

	"github.com/yuin/gopher-lua/ast"
)

// maxNesting bounds how deep statements and expressions may be nested. The compiler needs time that is quadratic in the
// depth, and each operator of a chain such as a+a+a is one deeper: 16,000 of them take seconds.
const maxNesting = 400

type nestingError struct{ line int }

// Error names the limit and the way out.
func (e *nestingError) Error() string {
	return fmt.Sprintf("nested deeper than %d levels; split long chains of operators, or use a table", maxNesting)
}

func checkNesting(statements []ast.Stmt) error {
	line, deep := deeper(reflect.ValueOf(statements), maxNesting, 1)
	if !deep {
		return nil
	}
	return &nestingError{line: line}
}

// deeper walks a syntax tree of any shape and says whether it has more levels than left, and in which line. Reflection
// spares a list of all node types, which would be silently incomplete one day.
func deeper(v reflect.Value, left, line int) (int, bool) {
	switch v.Kind() {
	case reflect.Interface:
		return deeper(v.Elem(), left, line)
	case reflect.Pointer:
		if v.IsNil() {
			return line, false
		}
		if node, ok := v.Interface().(ast.PositionHolder); ok && node.Line() > 0 {
			line = node.Line()
		}
		if left == 0 {
			return line, true
		}
		return deeper(v.Elem(), left-1, line)
	case reflect.Slice:
		return anyDeeper(v.Len(), v.Index, left, line)
	case reflect.Struct:
		return anyDeeper(v.NumField(), v.Field, left, line)
	}
	return line, false
}

// anyDeeper is deeper for the elements of a list, or the fields of a node.
func anyDeeper(count int, part func(int) reflect.Value, left, line int) (int, bool) {
	for i := range count {
		if found, deep := deeper(part(i), left, line); deep {
			return found, true
		}
	}
	return line, false
}
