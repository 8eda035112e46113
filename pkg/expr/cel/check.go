// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	kubecel "k8s.io/apiserver/pkg/cel"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// Check compiles all conditions for objects of a schema: a field that the kind does not have and a comparison that
// cannot be are problems, with their places. What the schema leaves open is not checked, and neither is a nil schema.
// The error joins all problems. What passes may still fail on an object: a field that is known may be missing.
//
// Evaluation knows no types: objects are as the API server sent them. So, unlike in a ValidatingAdmissionPolicy, a date
// and bytes are the texts that they are sent as, and fields have their plain names, also in an index:
// object.spec["a-b"].
func Check(conditions []v1alpha1.MatchCondition, schema *spec.Schema, inputs ...Input) error {
	if schema == nil {
		_, err := Compile(conditions, inputs...)
		return err
	}
	var errs []error
	var all sizes
	for i, condition := range conditions {
		// Each has an environment of its own, which knows what was asked for in vain.
		known := newSchemaTypes()
		env, err := newEnv(
			append(
				variablesOf(inputs),
				celgo.Variable("object", known.typeOf("object", withMetadata(schema))),
				provide(known),
			)...)
		if err != nil {
			return fmt.Errorf("making the CEL environment: %w", err)
		}
		parsed, found := all.parse(env, field(i, condition), condition.Expression)
		if len(found) == 0 {
			found = known.check(env, parsed, field(i, condition), condition.Expression)
		}
		errs = append(errs, found...)
	}
	return errors.Join(errs...)
}

func provide(known *schemaTypes) celgo.EnvOption {
	return func(env *celgo.Env) (*celgo.Env, error) {
		known.Provider = env.CELTypeProvider()
		return celgo.CustomTypeProvider(known)(env)
	}
}

func (s *schemaTypes) check(env *celgo.Env, parsed *celgo.Ast, where, expression string) []error {
	plain(parsed)
	checked, issues := env.Check(parsed)
	if found := problems(where, expression, issues, s.explain); len(found) > 0 {
		return found
	}
	if issues.Err() != nil { // nothing but what is right when it is evaluated
		return nil
	}
	if err := isCondition(checked.OutputType()); err != nil {
		return []error{fmt.Errorf("%s: %w", where, err)}
	}
	return nil
}

// plain makes object["name"] the same as object.name: to the checker, an object has no index.
func plain(parsed *celgo.Ast) {
	factory := ast.NewExprFactory()
	ast.PostOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		call := e.AsCall()
		if len(call.Args()) != 2 || call.Args()[1].Kind() != ast.LiteralKind {
			return
		}
		name, ok := call.Args()[1].AsLiteral().(types.String)
		switch {
		case !ok:
		case call.FunctionName() == operators.Index:
			e.SetKindCase(factory.NewSelect(e.ID(), call.Args()[0], string(name)))
		case call.FunctionName() == operators.OptIndex:
			e.SetKindCase(factory.NewCall(e.ID(), operators.OptSelect, call.Args()...))
		}
	}))
}

var (
	undefinedField = regexp.MustCompile(`^undefined field '(.*)'$`)
	// asMap are complaints that an object is used as the map that it is when it is evaluated.
	asMap = regexp.MustCompile(
		`^found no matching overload for '(@in|_==_|_!=_|_\[_\]|_\[\?_\]|_\?_:_|size|orValue|or)' applied to '.*\{\}.*'$` +
			`|^expression of type '.*\{\}' cannot be range of a comprehension`,
	)
)

// explain says more to an issue, or nothing when it is none.
func (s *schemaTypes) explain(cause string) string {
	if asMap.MatchString(cause) {
		return ""
	}
	match := undefinedField.FindStringSubmatch(cause)
	if match == nil {
		return unavailable(cause)
	}
	name := match[1]
	fields := s.missed[name]
	if plain, ok := kubecel.Unescape(name); ok && plain != name && slices.Contains(fields, plain) {
		return fmt.Sprintf("%s; fields are not escaped here: write [%q]", cause, plain)
	}
	if near := suggest.Nearest(name, fields); near != "" {
		return fmt.Sprintf("%s; did you mean '%s'?", cause, near)
	}
	if len(fields) > 0 && len(fields) <= 8 {
		return fmt.Sprintf("%s; the fields are %s", cause, strings.Join(fields, ", "))
	}
	return cause
}
