// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"errors"

	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

// Exhausted reports whether an error is that of an expression or a script that used up its time or memory.
func Exhausted(err error) bool {
	var budget *sandbox.BudgetError
	var timeout *lua.TimeoutError
	var limit *cel.LimitError
	return errors.As(err, &budget) && budget.Kind != sandbox.BudgetKilled || errors.As(err, &timeout) ||
		errors.As(err, &limit)
}

// ScriptFault says in a word how a script failed. Empty when the error is not one of a script.
func ScriptFault(err error) string {
	var budget *sandbox.BudgetError
	var timeout *lua.TimeoutError
	var script *lua.ScriptError
	switch {
	case errors.As(err, &budget):
		return string(budget.Kind)
	case errors.As(err, &timeout):
		return string(sandbox.BudgetTime)
	case errors.As(err, &script):
		return "error"
	}
	return ""
}
