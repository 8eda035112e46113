// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// returns refuses a script that never sets the field by which its result is read.
func (r *Result) returns(field, script, function, name, so, hint string) {
	if script == "" || r.has(field) || lua.Sets(script, name) {
		return
	}
	message := "the script never sets " + terminal.Quoted(name) + ", " + so
	what, line := lua.NoTable(script, function)
	if what != "" {
		message = function + " returns " + what + " here, and " + message
	} else if other, at := lua.Unread(script, function, name, "message"); other != "" {
		if line = at; suggest.Nearest(other, []string{name}) != "" {
			hint = "did you mean " + name + " instead of " + other + "?"
		}
	}
	r.inText(field, codes.LuaResult, message, line, 0)
	r.Problems[len(r.Problems)-1].Hint = hint
}

// ends warns of a path through evaluate that returns nothing, or no table: a run takes that for an error of the script.
func (r *Result) ends(field, script, example string) {
	if script == "" || r.has(field) {
		return
	}
	if name, line := lua.MisspelledReturn(script); name != "" {
		r.inText(field, codes.LuaName, name+" is not defined", line, 0)
		r.Problems[len(r.Problems)-1].Hint = "did you mean return?"
		return
	}
	if what, line := lua.NoTable(script, "evaluate"); what != "" {
		message := "evaluate returns " + what + " here; then it fails, and " + r.afterFailure()
		r.inText(field, codes.LuaReturn, message, line, 0)
		r.Problems[len(r.Problems)-1].Hint = "return a table, for example " + example
	}
	if line := lua.NoReturn(script, "evaluate"); line > 0 {
		message := "evaluate can end here and return nothing; then it fails, and " + r.afterFailure()
		r.inText(field, codes.LuaReturn, message, line, 0)
		r.Problems[len(r.Problems)-1].Hint = "return a table on every path, for example " + example + " at the end"
	}
}

// inputsOf warns of a script that uses an input for which its selector does not ask: that is nothing there.
func (r *Result) inputsOf(field string, spec *v1alpha1.ResourceSelector) {
	if spec.Evaluate == "" || r.has(field) {
		return
	}
	there := cel.InputsOf(spec)
	for _, input := range cel.Inputs {
		name, line := lua.Undefined(spec.Evaluate, []string{string(input)})
		if name != "" && !slices.Contains(there, input) {
			r.inText(field, codes.LuaName, input.Absent(), line, 0)
		}
	}
}

// findingFields finds the fields of finding that there are not: a condition fails there, and a script gets nothing.
func (r *Result) findingFields(field string, spec *v1alpha1.ResourceSelector) {
	if spec.Finding == nil {
		return
	}
	has := "it has " + terminal.AndList(cel.FindingFields)
	unknown, err := cel.UnknownFindingFields(spec.MatchConditions)
	if err != nil {
		return // the conditions were compiled already
	}
	for _, one := range unknown {
		path := fmt.Sprintf("%s.matchConditions[%d].expression", field, one.Condition)
		if !r.has(path) {
			r.inText(path, codes.CELSyntax, "finding has no field "+one.Path, one.Line, one.Column)
			r.Problems[len(r.Problems)-1].Hint = has
		}
	}
	if r.has(field + ".evaluate") {
		return
	}
	if name, line := lua.Unknown(spec.Evaluate, string(cel.Finding), cel.FindingFields); name != "" {
		r.inText(field+".evaluate", codes.LuaName, "finding has no field "+name, line, 0)
		r.Problems[len(r.Problems)-1].Hint = has
	}
}

// matching warns of a result that says neither true nor false, or says it in a field that nobody reads.
func (r *Result) matching(field, script string) {
	if script == "" || r.has(field) {
		return
	}
	if what, line := lua.WrongMatching(script); what != "" {
		message := "matching is " + what + " here; then evaluate fails, and " + r.afterFailure()
		r.inText(field, codes.LuaReturn, message, line, 0)
		r.Problems[len(r.Problems)-1].Hint = "write matching = true or matching = false, without quotes"
	}
	if name, line := lua.Unread(script, "evaluate", "matching", "message"); name != "" {
		message := "the table has " + name + " and no matching, so it never matches"
		r.inText(field, codes.LuaReturn, message, line, 0)
		r.Problems[len(r.Problems)-1].Hint = unreadHint(name)
	}
}

// unreadHint is the way out of a field of a result that nobody reads.
func unreadHint(name string) string {
	if suggest.Nearest(name, []string{"matching"}) != "" {
		return "did you mean matching?"
	}
	return "of what evaluate returns, only matching and message are read"
}

// afterFailure is what a run does when an expression or a script fails on an object.
func (r *Result) afterFailure() string {
	if r.Cleaner.Spec.OnPartialView == v1alpha1.PartialViewSkip {
		return "the object is left alone"
	}
	return "a run touches nothing at all"
}
