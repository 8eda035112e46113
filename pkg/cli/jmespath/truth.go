// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package jmespath

import "errors"

// Condition translates an expression that is asked whether its result is true into a CEL condition. Python answers
// that, to which the number 0 is not true. Inside the expression, the rules of JMESPath hold, to which it is.
// root is the path of the object: empty for kube-janitor, "target" for Kyverno.
func Condition(e Expr, root ...any) (string, error) {
	is, err := truth(e, root)
	if err != nil {
		return "", err
	}
	switch e := e.(type) {
	case Path:
		f, err := FieldOf(e, root...)
		if err != nil || f.IsText {
			return is, err
		}
		return "(" + is + " && dyn(" + f.Value + ") != 0)", nil
	case Binary:
		if e.Op == "&&" || e.Op == "||" {
			return result(e, root)
		}
	}
	return is, nil
}

// result asks whether the side is true that the result of && or || is.
func result(e Binary, root []any) (string, error) {
	first, err := truth(e.Left, root) // it chooses the side
	if err != nil {
		return "", err
	}
	left, err := Condition(e.Left, root...)
	if err != nil {
		return "", err
	}
	right, err := Condition(e.Right, root...)
	switch {
	case e.Op == "&&":
		return "(" + first + " && " + right + ")", err
	case first == left:
		return "(" + left + " || " + right + ")", err
	}
	return "(" + first + " ? " + left + " : " + right + ")", err
}

// truth is whether JMESPath takes a value for true. A field that is missing is null, and null is not true; so each
// field is asked whether it is there.
func truth(e Expr, root []any) (string, error) {
	switch e := e.(type) {
	case Binary:
		if e.Op == "&&" || e.Op == "||" {
			left, err := truth(e.Left, root)
			if err != nil {
				return "", err
			}
			right, err := truth(e.Right, root)
			return "(" + left + " " + e.Op + " " + right + ")", err
		}
		return compared(e, root)
	case Not:
		if call, ok := e.Of.(Call); ok {
			return called(call, root, "!")
		}
		of, err := truth(e.Of, root)
		return "!" + of, err
	case Call:
		return called(e, root, "")
	case Path:
		f, err := FieldOf(e, root...)
		if err != nil {
			return "", err
		}
		return f.when(f.IsTrue()), nil
	}
	return "", errors.New("a text or a number alone is no condition")
}
