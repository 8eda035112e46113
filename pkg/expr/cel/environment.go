// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"fmt"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/ext"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// newEnv is the environment of Kubernetes' ValidatingAdmissionPolicy with all functions that any version offers, but
// for those of authorization, and with one that reads time marks. It is made here, and not taken from k8s.io/apiserver,
// because that one counts costs in its own way, which is slow, and too late for what is hostile.
func newEnv(options ...celgo.EnvOption) (*celgo.Env, error) {
	all := append(libraries(), celgo.Variable("now", celgo.TimestampType))
	return celgo.NewEnv(append(all, options...)...)
}

func libraries() []celgo.EnvOption {
	return []celgo.EnvOption{
		celgo.HomogeneousAggregateLiterals(),
		celgo.DefaultUTCTimeZone(true),
		celgo.CrossTypeNumericComparisons(true),
		celgo.OptionalTypes(),
		celgo.ASTValidators(
			celgo.ValidateDurationLiterals(),
			celgo.ValidateTimestampLiterals(),
			celgo.ValidateHomogeneousAggregateLiterals(),
		),
		ext.Strings(ext.StringsVersion(2)),
		ext.Sets(),
		ext.TwoVarComprehensions(),
		ext.Lists(ext.ListsVersion(3)),
		library.Lists(
			library.ListsVersion(1),
		),
		library.URLs(),
		library.Regex(),
		library.Quantity(),
		library.IP(),
		library.CIDR(),
		library.Format(),
		library.SemverLib(library.SemverVersion(1)),
		marks(),
	}
}

// field names a condition in problems: its place and its name.
func field(i int, condition v1alpha1.MatchCondition) string {
	return fmt.Sprintf("matchConditions[%d] (%s)", i, condition.Name)
}

// maxExpressions is how long all expressions of a selector may be together, in bytes.
const maxExpressions = 65536

// sizes adds up what the conditions of a selector need before they are compiled.
type sizes struct {
	bytes, steps int
}

// parse parses an expression and refuses what would take too long, or too much memory, to compile.
func (s *sizes) parse(env *celgo.Env, where, expression string) (*celgo.Ast, []error) {
	if s.bytes += len(expression); s.bytes > maxExpressions {
		return nil, []error{
			fmt.Errorf(
				"%s: the expressions of a selector are longer than %d bytes together; make them shorter",
				where,
				maxExpressions,
			),
		}
	}
	parsed, issues := env.Parse(expression)
	if found := problems(where, expression, issues, unavailable); len(found) > 0 {
		return nil, found
	}
	var wrong error
	ast.PostOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		pattern, ok := patternOf(e)
		if !ok || wrong != nil {
			return
		}
		if err := s.addPattern(pattern); err != nil {
			at := parsed.NativeRep().SourceInfo().GetStartLocation(e.ID())
			wrong = fmt.Errorf("%s: line %d, column %d: %w", where, at.Line(), at.Column()+1, err)
		}
	}))
	if wrong != nil {
		return nil, []error{wrong}
	}
	return parsed, nil
}

func (s *sizes) addPattern(pattern string) error {
	steps, err := patternSize(pattern)
	if err != nil {
		return err
	}
	if s.steps += steps; steps > maxPattern || s.steps > maxPatterns {
		return fmt.Errorf(
			"a regular expression may have %d steps when its repetitions are written out, and all of a selector %d; make it shorter",
			maxPattern,
			maxPatterns,
		)
	}
	return nil
}

// problems makes cel-go's issues readable: one error each, with place, cause and the line of the expression. explain
// may put more to a cause.
func problems(where, expression string, issues *celgo.Issues, explain func(cause string) string) []error {
	if issues == nil {
		return nil
	}
	lines := strings.Split(expression, "\n")
	var errs []error
	for _, issue := range issues.Errors() {
		if len(errs) == maxProblems {
			break
		}
		line, column := issue.Location.Line(), issue.Location.Column()+1
		cause := explain(tidy(issue.Message))
		if cause == "" {
			continue
		}
		text := ""
		if line >= 1 && line <= len(lines) {
			text = ": " + cut(strings.TrimSpace(lines[line-1]), column)
		}
		errs = append(errs, fmt.Errorf("%s: line %d, column %d: %s%s", where, max(line, 1), max(column, 1), cause, text))
	}
	return errs
}

// maxProblems is how many problems of one expression are reported.
const maxProblems = 10

// maxQuoted is how many characters of a line are quoted.
const maxQuoted = 120

// cut keeps of a long line what is around the column.
func cut(line string, column int) string {
	runes := []rune(line)
	if len(runes) <= maxQuoted {
		return line
	}
	begin := min(max(0, column-maxQuoted/2), len(runes)-maxQuoted)
	return "..." + string(runes[begin:begin+maxQuoted]) + "..."
}

// tidy leaves out what a message says about the grammar and about cel-go.
func tidy(message string) string {
	message, _, _ = strings.Cut(message, " expecting {")
	message = strings.ReplaceAll(message, " (in container '')", "")
	return strings.TrimSuffix(strings.ReplaceAll(message, "\n", " "), ".")
}
