// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package jmespath

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Field is a field of an object in CEL.
type Field struct {
	// Guards are what must hold for the field to be there.
	Guards []string
	Value  string
	// IsText is true of fields that are texts in every kind.
	IsText bool
}

// when is a condition that is false where the field is missing.
func (f Field) when(condition string) string {
	return "(" + strings.Join(append(slices.Clone(f.Guards), condition), " && ") + ")"
}

// When is a condition on the field that is false where it is missing.
func (f Field) When(condition string) string { return f.when(condition) }

// IsTrue is a condition that JMESPath takes the field, which is there, for true.
func (f Field) IsTrue() string {
	if f.IsText {
		return f.Value + " != ''"
	}
	value := "dyn(" + f.Value + ")" // of a known type, to compare it with another is a mistake to the checker
	return fmt.Sprintf("%[1]s != '' && %[1]s != false && %[1]s != null && %[1]s != [] && %[1]s != {}", value)
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// reserved are words that no field may be written as in CEL.
var reserved = []string{
	"true",
	"false",
	"null",
	"in",
	"as",
	"break",
	"const",
	"continue",
	"else",
	"for",
	"function",
	"if",
	"import",
	"let",
	"loop",
	"package",
	"return",
	"var",
	"void",
	"while",
}

// FieldOf translates a path of the object. Of metadata, name and creationTimestamp are always there.
func FieldOf(path Path, root ...any) (Field, error) {
	if len(path) <= len(root) || !slices.Equal(path[:len(root)], root) {
		return Field{}, fmt.Errorf("%v is not a field of the object", path[0])
	}
	path = path[len(root):]
	if path[0] == "_context" {
		return Field{}, fmt.Errorf("import supports _context only in: pvc_is_not_mounted && pvc_is_not_referenced")
	}
	if path[len(path)-1] == (Flatten{}) { // of a list, it is the list
		path = path[:len(path)-1]
	}
	f := Field{Value: "object"}
	for i, step := range path {
		at, guard, err := under(f.Value, step)
		if err != nil {
			return Field{}, err
		}
		if !isAlways(path, i) {
			f.Guards = append(f.Guards, guard)
		}
		f.Value = at
	}
	f.IsText = isText(path)
	return f, nil
}

// under is a step below a value, and the condition that it is there.
func under(value string, step any) (at, guard string, err error) {
	switch step := step.(type) {
	case int:
		return fmt.Sprintf("%s[%d]", value, step), fmt.Sprintf("size(%s) > %d", value, step), nil
	case string:
		if !plainName.MatchString(step) || slices.Contains(reserved, step) {
			return value + "[" + Quote(step) + "]", Quote(step) + " in " + value, nil
		}
		return value + "." + step, "has(" + value + "." + step + ")", nil
	}
	return "", "", fmt.Errorf("import supports [] only at the end of a field")
}

// isAlways reports whether the part of a path that ends with the i-th step is there in every object.
func isAlways(path Path, i int) bool {
	if path[0] != "metadata" {
		return false
	}
	return i == 0 || i == 1 && (path[1] == "name" || path[1] == "creationTimestamp")
}

// isText reports whether a field is a text in every kind.
func isText(path Path) bool {
	n := len(path)
	if n == 2 && path[0] == "metadata" {
		return slices.Contains([]any{"name", "namespace", "creationTimestamp"}, path[1])
	}
	return n >= 3 && path[n-3] == "metadata" && (path[n-2] == "labels" || path[n-2] == "annotations")
}

// compared translates a comparison of a field, or of its length, with a literal.
func compared(e Binary, root []any) (string, error) {
	left, right, op := e.Left, e.Right, e.Op
	if _, ok := left.(Literal); ok {
		left, right = right, left
		op = cmp.Or(map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<="}[op], op)
	}
	value, ok := right.(Literal)
	if !ok {
		return "", fmt.Errorf("import supports a comparison only with a text in '...' or a value in `...`")
	}
	f, err := operand(left, root)
	if err != nil {
		return "", err
	}
	if op != "==" && op != "!=" && !isOrdered(f, value) {
		return "", fmt.Errorf("import supports %s only with a number, such as `3`, and of fields that are always texts", op)
	}
	if value.Value == nil { // a field that is missing is null
		isSet := f.when("dyn(" + f.Value + ") != null")
		if op == "==" {
			return "!" + isSet, nil
		}
		return isSet, nil
	}
	text, err := Value(value.Value)
	if err != nil {
		return "", err
	}
	if op == "!=" {
		return unequal(f, left, text), nil
	}
	return f.when(f.Value + " " + op + " " + text), nil
}

// unequal is also true of a field that is missing. Of its length it is not: that is an error in JMESPath.
func unequal(f Field, of Expr, text string) string {
	if _, isField := of.(Path); isField {
		return "!" + f.when(f.Value+" == "+text)
	}
	return f.when(f.Value + " != " + text)
}

// isOrdered reports whether a field can be less than a value. kube-janitor's JMESPath compares texts by their
// characters, as CEL does.
func isOrdered(f Field, than Literal) bool {
	switch than.Value.(type) {
	case float64:
		return true
	case string:
		return f.IsText
	}
	return false
}

// operand is a path, or the length of one.
func operand(e Expr, root []any) (Field, error) {
	switch e := e.(type) {
	case Path:
		return FieldOf(e, root...)
	case Call:
		if path, ok := only[Path](e); ok && e.Name == "length" {
			f, err := FieldOf(path, root...)
			f.Value = "size(" + f.Value + ")"
			return f, err
		}
		return Field{}, fmt.Errorf("import does not support the function %s in a comparison", e.Name)
	}
	return Field{}, fmt.Errorf("import supports a comparison only of a field")
}

func only[T Expr](c Call) (of T, ok bool) {
	if len(c.Args) == 1 {
		of, ok = c.Args[0].(T)
	}
	return of, ok
}

// called translates a function, or with not "!" its opposite. Of a field that is missing, the function is an error in
// JMESPath: then both are false.
func called(c Call, root []any, not string) (string, error) {
	method := map[string]string{"starts_with": "startsWith", "ends_with": "endsWith", "contains": "contains"}[c.Name]
	if method == "" {
		return "", fmt.Errorf("import does not support the function %s", c.Name)
	}
	if len(c.Args) != 2 {
		return "", fmt.Errorf("%s takes a field and a text", c.Name)
	}
	path, isPath := c.Args[0].(Path)
	value, isLiteral := c.Args[1].(Literal)
	text, isText := value.Value.(string)
	if !isPath || !isLiteral || !isText {
		return "", fmt.Errorf("%s takes a field and a text", c.Name)
	}
	f, err := FieldOf(path, root...)
	if err != nil {
		return "", err
	}
	if method == "contains" && !f.IsText { // JMESPath asks texts and lists the same
		return f.when(
			fmt.Sprintf("%[3]s(type(dyn(%[1]s)) == string ? dyn(%[1]s).contains(%[2]s) : %[2]s in dyn(%[1]s))",
				f.Value, Quote(text), not),
		), nil
	}
	return f.when(not + f.Value + "." + method + "(" + Quote(text) + ")"), nil
}

// Value is a JSON value in CEL. Maps are refused.
func Value(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return Quote(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		text, err := json.Marshal(v)
		return string(text), err
	case []any:
		parts := make([]string, 0, len(v))
		for _, part := range v {
			text, err := Value(part)
			if err != nil {
				return "", err
			}
			parts = append(parts, text)
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	}
	return "", fmt.Errorf("import does not support a value of this type")
}

// Quote is a text in CEL.
func Quote(text string) string {
	if !strings.ContainsAny(text, "'\\\n\r\t") && strconv.Quote(text) == `"`+text+`"` {
		return "'" + text + "'"
	}
	quoted := strconv.QuoteToASCII(text) // CEL reads its escapes
	return quoted
}
