// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"regexp/syntax"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// patternOf is the regular expression of a call, when it is a constant.
func patternOf(e ast.Expr) (pattern string, ok bool) {
	if e.Kind() != ast.CallKind {
		return "", false
	}
	call := e.AsCall()
	if !isSearch(call.FunctionName()) {
		return "", false
	}
	for i, arg := range call.Args() {
		if i > 1 || arg.Kind() != ast.LiteralKind {
			continue
		}
		if text, ok := arg.AsLiteral().(types.String); ok && (i == 1 || call.IsMemberFunction()) {
			return string(text), true
		}
	}
	return "", false
}

// isSearch reports whether a function takes a regular expression as its second argument, after the text.
func isSearch(function string) bool {
	return function == "matches" || function == "find" || function == "findAll"
}

// patternCost is the product of the text and the steps of the pattern: so long a search may take.
func patternCost(text string, steps int) uint64 {
	if steps > maxPattern {
		return far
	}
	return (1 + units(uint64(len(text)))) * uint64(1+steps/4)
}

// patternSize is how many steps a regular expression has when its repetitions are written out, as they are to run it.
func patternSize(pattern string) (int, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return stepsOf(parsed), nil
}

// maxDynamicPattern is the length in bytes of the longest regular expression that is not written in the expression
// itself: each use reads it anew.
const maxDynamicPattern = 4 << 10

// stepsOfText is patternSize of what is not known to be a regular expression: compiling it says so.
func stepsOfText(pattern string) int {
	if len(pattern) > maxDynamicPattern {
		return far // not worth reading
	}
	steps, err := patternSize(pattern)
	if err != nil {
		return len(pattern)
	}
	return max(steps, len(pattern))
}

func stepsOf(re *syntax.Regexp) int {
	steps := 1
	switch re.Op {
	case syntax.OpLiteral, syntax.OpCharClass:
		steps = max(1, len(re.Rune))
	case syntax.OpRepeat:
		return min(far, 1+stepsOf(re.Sub[0])*max(1, re.Min, re.Max))
	}
	for _, sub := range re.Sub {
		steps += stepsOf(sub)
	}
	return min(far, steps)
}
