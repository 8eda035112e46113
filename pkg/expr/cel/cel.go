// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cel judges objects by the matchConditions of a selector: expressions in the Common Expression Language, as in
// a ValidatingAdmissionPolicy. It reads objects as the bytes that the API server sent and decodes only what an
// expression asks for. Expressions have no side effects, and their cost is limited, so they run in the operator itself.
package cel

import (
	"errors"
	"fmt"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Program is the compiled conditions of one selector. It is safe for concurrent use.
type Program struct {
	conditions   []condition
	metadataOnly bool
}

type condition struct {
	name, message string
	program       celgo.Program
	source        *ast.SourceInfo
	// late is true when it looks at logs.
	late bool
}

// Compile compiles all conditions. Their types are not checked but where they are plain: object can be anything. The
// error joins all problems, each with its place, such as "matchConditions[2] (unused): line 1, column 8: undeclared
// reference to 'objct': objct.spec.x > 1". The inputs that the selector asks for are variables as well.
func Compile(conditions []v1alpha1.MatchCondition, inputs ...Input) (*Program, error) {
	env, err := newEnv(append(variablesOf(inputs), celgo.Variable("object", celgo.DynType))...)
	if err != nil {
		return nil, fmt.Errorf("making the CEL environment: %w", err)
	}
	guard, err := newGuard(env)
	if err != nil {
		return nil, fmt.Errorf("making the CEL environment: %w", err)
	}
	options := guard.options()
	p := &Program{conditions: make([]condition, 0, len(conditions)), metadataOnly: true}
	var errs []error
	var all sizes
	for i, spec := range conditions {
		parsed, found := all.parse(env, field(i, spec), spec.Expression)
		if len(found) > 0 {
			errs = append(errs, found...)
			continue
		}
		compiled, issues := env.Check(parsed)
		if found := problems(field(i, spec), spec.Expression, issues, unavailable); len(found) > 0 {
			errs = append(errs, found...)
			continue
		}
		if err := isCondition(compiled.OutputType()); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", field(i, spec), err))
			continue
		}
		program, err := env.Program(compiled, options...)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", field(i, spec), err))
			continue
		}
		p.metadataOnly = p.metadataOnly && readsMetadataOnly(compiled.NativeRep().Expr())
		p.conditions = append(p.conditions, condition{
			name: spec.Name, message: spec.Message, program: program, source: compiled.NativeRep().SourceInfo(),
			late: looksAt(compiled.NativeRep().Expr(), string(Logs)),
		})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return p, nil
}

// isCondition refuses what can never be true or false.
func isCondition(t *celgo.Type) error {
	if t.IsExactType(celgo.BoolType) || t.IsExactType(celgo.DynType) {
		return nil
	}
	return fmt.Errorf("the expression is of type %s, but a condition must be true or false: compare it with something", t)
}
