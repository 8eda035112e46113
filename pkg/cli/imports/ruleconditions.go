// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"regexp"
	"strings"
)

// halves are the two facts that make a claim Unused, and what a rule finds that does not ask for the fact.
var halves = [][2]string{
	{"_context.pvc_is_not_mounted", "claims that no workload names but a Pod mounts"},
	{
		"_context.pvc_is_not_referenced",
		"claims that no Pod mounts but a workload names, such as a Deployment with 0 replicas",
	},
}

// takesUnused makes the finding Unused of a condition that asks for one half of it, or both.
func (r *rule) takesUnused(text string) bool {
	rest := strings.NewReplacer(" ", "", "\n", "", "(", "", ")", "").Replace(text)
	if !strings.Contains(rest, "_context.pvc_") {
		return false
	}
	for _, half := range halves {
		if !strings.Contains(rest, half[0]) {
			r.also = half[1]
		}
		rest = strings.Replace(rest, half[0], "", 1)
	}
	r.unused = strings.Trim(rest, "&") == ""
	return r.unused
}

var quotedOrObject = regexp.MustCompile(`'(?:[^'\\]|\\.)*'|\bobject\b`)

// untyped is a condition for objects of several kinds: a field that only one of them has is absent in the others, and
// no mistake.
func untyped(condition string) string {
	return quotedOrObject.ReplaceAllStringFunc(condition, func(part string) string {
		if part == "object" {
			return "dyn(object)"
		}
		return part
	})
}

// unwrappedOnce leaves out parentheses that stand around the whole expression.
func unwrappedOnce(expression string) string {
	depth := 0
	for i, c := range expression {
		switch c {
		case '\'', '"', '[':
			return expression
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 && i < len(expression)-1 {
				return expression
			}
		}
	}
	return unwrapped(expression)
}
