// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"slices"
	"strings"

	gopher "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
)

// check compiles a script for its problems, and finds out what it reads.
func check(function, source string) answer {
	if _, err := lua.Compile(source); err != nil {
		return faultAnswer(err)
	}
	if function != "" && !mentions(source, function) {
		return faultAnswer(
			&lua.ScriptError{
				Msg: fmt.Sprintf("the script has no global function %s; write: function %s() ... end", function, function),
			},
		)
	}
	a := answer{kind: answerProgram}
	if function == "evaluate" {
		a.reads = lua.Reads(source)
	}
	return a
}

// mentions says whether a script that compiles uses a name for anything but a local variable: where it does not, it
// cannot define a global function of that name.
func mentions(source, name string) bool {
	statements, err := parse.Parse(strings.NewReader(source), "")
	if err != nil {
		return true
	}
	proto, err := gopher.Compile(statements, "")
	return err != nil || uses(proto, name)
}

func uses(proto *gopher.FunctionProto, name string) bool {
	return slices.Contains(proto.Constants, gopher.LValue(gopher.LString(name))) ||
		slices.ContainsFunc(proto.FunctionPrototypes, func(inner *gopher.FunctionProto) bool { return uses(inner, name) })
}
