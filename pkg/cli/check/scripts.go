// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
)

// ends warns of a path through evaluate that returns nothing: a run takes that for an error of the script.
func (r *Result) ends(field, script, example string) {
	if script == "" || r.has(field) {
		return
	}
	if name, line := lua.MisspelledReturn(script); name != "" {
		r.inText(field, codes.LuaName, name+" is not defined", line, 0)
		r.Problems[len(r.Problems)-1].Hint = "did you mean return?"
		return
	}
	if line := lua.NoReturn(script, "evaluate"); line > 0 {
		message := "evaluate can end here and return nothing; then it fails, and " + r.afterFailure()
		r.inText(field, codes.LuaReturn, message, line, 0)
		r.Problems[len(r.Problems)-1].Hint = "return a table on every path, for example " + example + " at the end"
	}
}

// matching warns of a result that says neither true nor false.
func (r *Result) matching(field, script string) {
	if script == "" || r.has(field) {
		return
	}
	if what, line := lua.WrongMatching(script); what != "" {
		message := "matching is " + what + " here; then evaluate fails, and " + r.afterFailure()
		r.inText(field, codes.LuaReturn, message, line, 0)
		r.Problems[len(r.Problems)-1].Hint = "write matching = true or matching = false, without quotes"
	}
}

// afterFailure is what a run does when an expression or a script fails on an object.
func (r *Result) afterFailure() string {
	if r.Cleaner.Spec.OnPartialView == v1alpha1.PartialViewSkip {
		return "the object is left alone"
	}
	return "a run touches nothing at all"
}
