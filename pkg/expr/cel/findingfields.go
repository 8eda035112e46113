// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/common/ast"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// UnknownFindingFields are the fields that conditions take of finding and that no finding has. To the checker, finding
// is a map, which may have any. Conditions that do not parse have none.
func UnknownFindingFields(conditions []v1alpha1.MatchCondition) (unknown []Missing, err error) {
	env, err := newEnv(variablesOf([]Input{Finding})...)
	if err != nil {
		return nil, fmt.Errorf("making the CEL environment: %w", err)
	}
	for i, condition := range conditions {
		parsed, issues := env.Parse(condition.Expression)
		if issues.Err() != nil {
			continue
		}
		plain(parsed)
		tree := parsed.NativeRep()
		ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
			if e.Kind() != ast.SelectKind || pathOf(e.AsSelect().Operand()) != string(Finding) {
				return
			}
			if name := e.AsSelect().FieldName(); !slices.Contains(FindingFields, name) {
				at := tree.SourceInfo().GetStartLocation(e.ID())
				unknown = append(unknown, Missing{Condition: i, Line: max(1, at.Line()), Column: at.Column() + 1, Path: name})
			}
		}))
	}
	return unknown, nil
}
