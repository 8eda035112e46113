// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"strings"
	"testing"
)

// A body of evaluate begins in line 2. Each case says in which line a warning is to stand, and 0 where none may come.
func TestNoReturn(t *testing.T) {
	const lateEnd = "if obj.x then\nhs = {matching = true}; return hs\nend"
	for _, c := range []struct {
		body string
		line int
	}{
		{lateEnd, 5},
		{"", 3},
		{"hs = {matching = true}", 3},
		{"return", 2},
		{"if obj.x then return end\nreturn {}", 2},
		{"if obj.x then return nil end\nreturn {}", 2},
		{"if obj.x then\nreturn {}\nelseif obj.y then\nreturn {}\nend", 7},
		{"if obj.x then x = 1 else return {} end", 3},
		{"for _, c in ipairs(obj.x) do return {} end", 3},
		{"for i = 1, #obj.x do return {} end", 3},
		{"while obj.x do return {} end", 3},
		{"while true do if obj.x then break end end", 3},
		{"repeat if obj.x then break end; return {} until false", 3},
		{"local function helper() return {} end", 3},
		{"hs = {}\nfunction helper() return hs end", 4},
		{"pcall(error)", 3},
		{"obj.error('no')", 3},

		{lateEnd + "\nreturn {}", 0},
		{"return {}", 0},
		{"return obj.x and {} or {}", 0},
		{"error('no x')", 0},
		{"if obj.x then return {} end\nerror({})", 0},
		{"if obj.x then return {} else error('no x') end", 0},
		{"if obj.x then return {} elseif obj.y then return {} else return {} end", 0},
		{"if obj.x then do return {} end else if obj.y then return {} else return {} end end", 0},
		{"if true then return {} end", 0},
		{"do return {} end", 0},
		{"while true do if obj.x then return {} end end", 0},
		{"while 1 do if obj.x then return {} end end", 0},
		{"while true do for _, c in ipairs(obj) do break end end", 0},
		{"while true do local f = function() while obj do break end end end", 0},
		{"repeat return {} until obj.x", 0},
		{"repeat local a = 1 until false", 0},
		{"local function helper() return end\nreturn {}", 0},
		{"local f = function() return nil end\nreturn {}", 0},
		{"if obj.x then goto out end\ndo return {} end\n::out::\nreturn {}", 0},
	} {
		script := "function evaluate()\n" + c.body + "\nend"
		if _, err := Compile(script); err != nil {
			t.Errorf("%s: %v", c.body, err)
		}
		if got := NoReturn(script, "evaluate"); got != c.line {
			t.Errorf("line %d, want %d:\n%s", got, c.line, script)
		}
	}
}

// What is not plainly one function is not judged.
func TestNoReturnElsewhere(t *testing.T) {
	for script, line := range map[string]int{
		"evaluate = function()\nend":                                               2,
		"function evaluate(o)\nend":                                                2,
		"local x = 1\nfunction evaluate() end":                                     2,
		"function transform() end":                                                 0,
		"function evaluate() end\nfunction evaluate() return {} end":               0,
		"function a.evaluate() end\nfunction evaluate() return {} end":             0,
		"function other() return {} end\nevaluate = other":                         0,
		"function evaluate() end\nevaluate = other":                                0,
		"function evaluate() end\nif x then evaluate = other end":                  0,
		"function evaluate(":                                                       0,
		"x = 1" + strings.Repeat("+1", 2*maxNesting) + "\nfunction evaluate() end": 0,
	} {
		if got := NoReturn(script, "evaluate"); got != line {
			t.Errorf("line %d, want %d:\n%.200s", got, line, script)
		}
	}
}
