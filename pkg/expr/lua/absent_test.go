// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"slices"
	"strings"
	"testing"

	gopher "github.com/yuin/gopher-lua"
)

func TestAbsent(t *testing.T) {
	for _, c := range []struct {
		body, function string
		line           int
	}{
		{"local a = 1\nlocal b = os.clock()", "os.clock", 3},
		{"local c = coroutine.wrap(f)", "coroutine.wrap", 2},
		{"return loadstring('return 1')()", "loadstring", 2},
		{"local json = require('json')", "require", 2},
		{"x = os['getenv']('HOME')", "os.getenv", 2},

		{"local now = os.time()", "", 0},
		{"if loadstring then x = 1 end", "", 0},
		{"local function require() end\nrequire()", "", 0},
		{"function os.clock() return 0 end\nos.clock()", "", 0},
		{"string.dump = f\nstring.dump()", "", 0},
		{"local io = {}\nio.write('x')", "", 0},
		{"obj.spec.load()", "", 0},
		{"os.clock(", "", 0},
	} {
		script := "function evaluate()\n" + c.body + "\nend"
		if function, line := Absent(script); function != c.function || line != c.line {
			t.Errorf("%q in line %d, want %q in %d:\n%s", function, line, c.function, c.line, script)
		}
	}
}

// The list has what the interpreter offers elsewhere, and the sandbox does not.
func TestAbsentIsComplete(t *testing.T) {
	stock := gopher.NewState()
	defer stock.Close()
	check := func(name string) (isThere bool) {
		s := session(t, "function evaluate() return {matching = "+name+" ~= nil} end")
		match, err := s.Evaluate(t.Context(), deployment(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		isListed := slices.Contains(absent, name)
		if isListed == match.Matching && !strings.Contains(name, "_") {
			t.Errorf("%s: listed %v, there %v", name, isListed, match.Matching)
		}
		return match.Matching
	}
	stock.G.Global.ForEach(func(name, value gopher.LValue) {
		library, isLibrary := value.(*gopher.LTable)
		if check(name.String()) && isLibrary && name.String() != "_G" {
			library.ForEach(func(field, _ gopher.LValue) { check(name.String() + "." + field.String()) })
		}
	})
}
