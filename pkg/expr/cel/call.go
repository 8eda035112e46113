// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"regexp"

	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// applyOverload calls a function as cel-go's interpreter does.
func applyOverload(function string, impl *functions.Overload, args []ref.Val) ref.Val {
	if impl.OperandTrait != 0 && !args[0].Type().HasTrait(impl.OperandTrait) {
		return types.NewErr("no such overload: %s", function)
	}
	switch {
	case len(args) == 1 && impl.Unary != nil:
		return impl.Unary(args[0])
	case len(args) == 2 && impl.Binary != nil:
		return impl.Binary(args[0], args[1])
	case impl.Function != nil:
		return impl.Function(args...)
	}
	return types.NewErr("no such overload: %s", function)
}

// maxNumber is how long the text of a quantity may be, in bytes.
const maxNumber = 100

// readsQuantity reports whether a function reads its first argument as a quantity.
func readsQuantity(function string) bool { return function == "quantity" || function == "isQuantity" }

// hugeExponent is a number with an exponent of four digits or more. In a text that is no number, such as "preview-9",
// an e means nothing.
var hugeExponent = regexp.MustCompile(`^[-+]?[0-9.]*[eE][-+]?0*[1-9][0-9]{3}`)

// quantityForm is the form of all quantities: k8s.io/apimachinery/pkg/api/resource refuses what has another one.
var quantityForm = regexp.MustCompile(`^[-+]?[0-9.]+[eEinumkKMGTP]*[-+]?[0-9]*$`)

// shortNumber refuses numbers such as "1e1000000000": Kubernetes' parser writes them out, and takes minutes. It may be
// an object that says so, and not the expression. To isQuantity, a long text of another form is no quantity.
func shortNumber(function string, apply func([]ref.Val) ref.Val) func([]ref.Val) ref.Val {
	return func(args []ref.Val) ref.Val {
		text, _ := args[0].(types.String)
		switch isLong := len(text) > maxNumber || hugeExponent.MatchString(string(text)); {
		case isLong && function == "isQuantity" && !quantityForm.MatchString(string(text)):
			return types.False
		case isLong:
			return types.NewErr("a quantity is too long or has too large an exponent to be read")
		}
		return apply(args)
	}
}

// guardedCall is a call whose cost depends on its arguments, and which is not made before that is paid.
type guardedCall struct {
	interpreter.InterpretableCall
	args  []interpreter.InterpretableV2
	apply func(args []ref.Val) ref.Val
	// steps is the size of the regular expression, where that is known beforehand.
	steps int
}

// Args implements interpreter.InterpretableCall.
func (c *guardedCall) Args() []interpreter.InterpretableV2 { return c.args }

// Eval implements interpreter.Interpretable.
func (c *guardedCall) Eval(vars interpreter.Activation) ref.Val {
	return c.Exec(interpreter.AsFrame(vars))
}

// Exec implements interpreter.InterpretableV2.
func (c *guardedCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	var few [3]ref.Val
	args := few[:0]
	for _, arg := range c.args {
		args = append(args, arg.Exec(frame))
	}
	for _, arg := range args {
		if types.IsUnknownOrError(arg) {
			return arg
		}
	}
	if !pay(frame, c.cost(args)) {
		return types.WrapErr(errTooCostly)
	}
	result := c.apply(args)
	// A result is paid for when it is made: it may be kept, and taking it costs nothing. A sum was paid for by its parts.
	if c.Function() != operators.Add && !pay(frame, weigh(result, objectCost)) {
		return types.WrapErr(errTooCostly)
	}
	return types.LabelErrNode(c.ID(), result)
}

func (c *guardedCall) cost(args []ref.Val) uint64 {
	if c.steps > 0 {
		of, _ := args[0].(types.String)
		return patternCost(string(of), c.steps)
	}
	return callCost(c.Function(), args)
}

// hidden is an argument that is not seen to be a constant: cel-go would replace the guarded call by one of its own.
type hidden struct{ interpreter.InterpretableV2 }

// compilePattern prepares a call of matches, find or findAll for a pattern that is known beforehand.
func (c *guardedCall) compilePattern() (done bool, err error) {
	if len(c.args) < 2 {
		return false, nil
	}
	constant, ok := c.args[1].(interpreter.InterpretableConst)
	if !ok {
		return false, nil
	}
	pattern, ok := constant.Value().(types.String)
	if !ok {
		return false, nil
	}
	if c.steps, err = patternSize(string(pattern)); err != nil {
		return false, err
	}
	re, err := regexp.Compile(string(pattern))
	if err != nil {
		return false, err
	}
	c.args = append([]interpreter.InterpretableV2{c.args[0], hidden{constant}}, c.args[2:]...)
	function := c.Function()
	c.apply = func(args []ref.Val) ref.Val { return search(function, re, args) }
	return true, nil
}

// search is matches, find and findAll as cel-go and Kubernetes define them.
func search(function string, re *regexp.Regexp, args []ref.Val) ref.Val {
	text, ok := args[0].(types.String)
	limit := types.Int(-1)
	if len(args) > 2 && ok {
		limit, ok = args[2].(types.Int)
	}
	switch {
	case !ok:
		return types.MaybeNoSuchOverloadErr(args[0])
	case function == "matches":
		return types.Bool(re.MatchString(string(text)))
	case function == "find":
		return types.String(re.FindString(string(text)))
	}
	return types.NewStringList(types.DefaultTypeAdapter, re.FindAllString(string(text), int(limit)))
}
