// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"cmp"
	"errors"
	"fmt"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// errTooCostly is the result of what could not be paid. Nobody sees it: the meter knows.
var errTooCostly = errors.New("the evaluation costs too much")

// guard lets nothing be evaluated that was not paid for.
type guard struct {
	// overloads are the functions by overload, or by name where the types of the arguments decide.
	overloads map[string]*functions.Overload
}

func newGuard(env *celgo.Env) (guard, error) {
	g := guard{overloads: map[string]*functions.Overload{}}
	for _, function := range env.Functions() {
		bindings, err := function.Bindings()
		if err != nil {
			return guard{}, err
		}
		for _, binding := range bindings {
			g.overloads[binding.Operator] = binding
		}
	}
	return g, nil
}

// options are what makes programs keep to the limits.
func (g guard) options() []celgo.ProgramOption {
	return []celgo.ProgramOption{
		celgo.EvalOptions(
			celgo.OptOptimize,
		),
		celgo.InterruptCheckFrequency(interruptEvery),
		celgo.CustomDecoratorV2(g.decorate),
	}
}

// decorate replaces a step of a program by one that is paid for. Constants are free, and so are "&&" and "||". A turn
// of a loop is not: each has a call to find out whether to go on, or to add to the result.
func (g guard) decorate(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	switch step := i.(type) {
	case interpreter.InterpretableConst:
		return i, nil
	case interpreter.InterpretableAttribute:
		return paidAttribute{step}, nil
	case interpreter.InterpretableConstructor:
		for _, val := range step.InitVals() {
			if _, ok := val.(interpreter.InterpretableConst); !ok {
				return paidConstructor{step}, nil
			}
		}
		return i, nil // cel-go makes it a constant
	case interpreter.InterpretableCall:
		return g.call(step)
	}
	return i, nil
}

func (g guard) call(call interpreter.InterpretableCall) (interpreter.InterpretableV2, error) {
	if isConstant(call.Function()) || len(call.Args()) == 0 {
		return paidCall{call}, nil
	}
	guarded := &guardedCall{InterpretableCall: call, args: call.Args()}
	switch {
	case call.Function() == operators.Equals:
		guarded.apply = func(args []ref.Val) ref.Val { return types.Equal(args[0], args[1]) }
		return guarded, nil
	case call.Function() == operators.NotEquals:
		guarded.apply = func(args []ref.Val) ref.Val { return types.Bool(types.Equal(args[0], args[1]) != types.True) }
		return guarded, nil
	case isSearch(call.Function()):
		if done, err := guarded.compilePattern(); done || err != nil {
			return guarded, err
		}
	}
	impl := cmp.Or(g.overloads[call.OverloadID()], g.overloads[call.Function()])
	if impl == nil || impl.NonStrict {
		return nil, fmt.Errorf("the function %s is not available here", call.Function())
	}
	guarded.apply = func(args []ref.Val) ref.Val { return applyOverload(call.Function(), impl, args) }
	if readsQuantity(call.Function()) {
		guarded.apply = shortNumber(call.Function(), guarded.apply)
	}
	return guarded, nil
}

// pay takes units from the meter of the evaluation. Constants are evaluated without one, before there is an object.
func pay(frame *interpreter.ExecutionFrame, units uint64) bool {
	if vars, ok := frame.Activation.(*variables); ok {
		return vars.meter.charge(units)
	}
	if found, ok := frame.ResolveName(meterName); ok {
		if m, ok := found.(*meter); ok {
			return m.charge(units)
		}
	}
	return true
}

// The steps that cost the same whatever their arguments are.
type (
	paidAttribute struct {
		interpreter.InterpretableAttribute
	}
	paidConstructor struct {
		interpreter.InterpretableConstructor
	}
	paidCall struct{ interpreter.InterpretableCall }
)

func paid(frame *interpreter.ExecutionFrame, units uint64, step interpreter.InterpretableV2) ref.Val {
	if !pay(frame, units) {
		return types.WrapErr(errTooCostly)
	}
	return step.Exec(frame)
}

// Exec implements interpreter.InterpretableV2.
func (a paidAttribute) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return paid(frame, 1, a.InterpretableAttribute)
}

// Eval implements interpreter.Interpretable.
func (a paidAttribute) Eval(vars interpreter.Activation) ref.Val {
	return a.Exec(interpreter.AsFrame(vars))
}

// Exec implements interpreter.InterpretableV2.
func (c paidConstructor) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return paid(frame, makingCost, c.InterpretableConstructor)
}

// Eval implements interpreter.Interpretable.
func (c paidConstructor) Eval(vars interpreter.Activation) ref.Val {
	return c.Exec(interpreter.AsFrame(vars))
}

// Exec implements interpreter.InterpretableV2.
func (c paidCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return paid(frame, 1, c.InterpretableCall)
}

// Eval implements interpreter.Interpretable.
func (c paidCall) Eval(vars interpreter.Activation) ref.Val {
	return c.Exec(interpreter.AsFrame(vars))
}
