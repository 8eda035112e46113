// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"slices"
	"strings"
)

// difference is one that is meant.
type difference func(c libraryCall, ours, stock callResult) bool

// argument is the expression of an argument, counted from 1. It is empty where there is none.
func (c libraryCall) argument(i int) string {
	if i > len(c.arguments) {
		return ""
	}
	return c.arguments[i-1]
}

// deliberate are all differences that are meant. Each is met by TestLibraryDiffersNowhereElse.
var deliberate = map[string]difference{
	"os.time and os.date show the clock of the run, which stands still": func(c libraryCall, ours, stock callResult) bool {
		return ours.Err == stock.Err && (c.function == "os.time" && (c.argument(1) == "" || c.argument(1) == "nil") ||
			c.function == "os.date" && len(c.arguments) < 2)
	},
	"os.time refuses a date without year, month or day, as Lua 5.1 does: the interpreter's own takes -1, which is long ago": func(c libraryCall, ours, _ callResult) bool {
		return c.function == "os.time" && strings.Contains(ours.Err, "missing in date table")
	},
	"os.date knows %a, %x, %D, %T and %j, and the day of the year": func(c libraryCall, ours, stock callResult) bool {
		return c.function == "os.date" && ours.Err == stock.Err &&
			(strings.Contains(c.argument(1), "*t") || strings.ContainsAny(c.argument(1), "axDTj"))
	},
	"math.random depends on the run and the object, and says what is wrong with an empty interval": func(c libraryCall, ours, stock callResult) bool {
		return c.function == "math.random" && (ours.Err == "") == (stock.Err == "")
	},
	"setmetatable takes tables only, as in Lua 5.1: the metatable of a number would outlive the object": func(c libraryCall, ours, _ callResult) bool {
		return c.function == "setmetatable" && strings.Contains(ours.Err, "#1 to setmetatable (table expected")
	},
	"getmetatable hides the metatable of texts": func(c libraryCall, ours, _ callResult) bool {
		return c.function == "getmetatable" && strings.HasPrefix(c.argument(1), `"`) && ours.Values == `(boolean "false")`
	},
	"string.format shows addresses and Go's view of tables and functions": func(c libraryCall, ours, stock callResult) bool {
		return c.function == "string.format" && ours.Err == stock.Err && slices.ContainsFunc(c.arguments, func(argument string) bool {
			return strings.HasPrefix(argument, "{") || strings.HasPrefix(argument, "function") || strings.HasPrefix(argument, "obj")
		})
	},
	"string.rep builds at most 1 MiB": func(_ libraryCall, ours, _ callResult) bool {
		return strings.Contains(ours.Err, "string.rep would build more than 1 MiB")
	},
}

// correct are calls of all functions that scripts can get hold of; "|" stands between the arguments.
var correct = map[string][]string{
	"assert":       {`1|"message"`, `false|"message"`, `nil`},
	"error":        {`"message"`, `"message"|1`, `{}|2`, `nil`},
	"getmetatable": {`{}`, `"text"`, `setmetatable({}, {__metatable=5})`},
	"ipairs":       {`{1, 2}`},
	"next":         {`{1, 2}`, `{1, 2}|1`, `{a=1}|"a"`},
	"pairs":        {`{1, 2}`},
	"pcall":        {`function(...) return ... end|1|nil`, `error|"message"`},
	"print":        {`"text"|1`},
	"rawequal":     {`1|1`, `obj|obj`},
	"rawget":       {`{1, 2}|2`, `{a=1}|"a"`},
	"rawset":       {`{1, 2}|2|3`, `{a=1}|"a"|2`},
	"select":       {`1|"a"|"b"`, `-1|"a"|"b"`, `"#"|"a"|"b"`},
	"setmetatable": {`{}|{}`, `{}|nil`, `setmetatable({}, {__metatable=1})|{}`},
	"tonumber":     {`"10"`, `"ff"|16`, `"0x1F"`, `" 1.5 "`},
	"tostring":     {`10`, `setmetatable({}, {__tostring=function() return "own" end})`},
	"type":         {`10`},
	"unpack":       {`{1, 2, 3}`, `{1, 2, 3}|2`, `{1, 2, 3}|2|3`},
	"xpcall":       {`function() error("message") end|function(m) return m end`, `function() return 1 end|print`},

	"string.byte":    {`"text"`, `"text"|2`, `"text"|2|3`},
	"string.char":    {`65|66`, `65`},
	"string.find":    {`"text"|"x"`, `"te.xt"|"."|2|true`, `"text"|"(x)()"|-3`},
	"string.format":  {`"%s and %d"|"text"|3`, `"%5.2f, %q"|1.5|"a"`, `"%x %%"|255`},
	"string.gfind":   {`"text"|"t"`},
	"string.gmatch":  {`"text"|"(t)(.)"`},
	"string.gsub":    {`"text"|"t"|"%0%0"`, `"text"|"(.)"|{t="T"}|1`, `"text"|"."|function(c) return c .. c end|2`, `"text"|"x"|obj.spec.map`},
	"string.len":     {`"text"`},
	"string.lower":   {`"TEXT"`},
	"string.match":   {`"text"|"e(.)"`, `"2026-03-01"|"(%d+)-(%d+)-(%d+)"|1`},
	"string.rep":     {`"ab"|3`, `"x"|2 * 1024 * 1024`, `""|0`, `"x"|1.9`},
	"string.reverse": {`"text"`},
	"string.sub":     {`"text"|2`, `"text"|-3|-2`},
	"string.upper":   {`"text"`},

	"table.concat": {`{1, "b"}`, `{1, "b"}|","`, `{1, "b", 3}|","|2`, `{1, "b", 3}|","|1|2`, `obj.spec.texts|","`},
	"table.getn":   {`{1, 2}`, `obj.spec.list`},
	"table.insert": {`{1, 2}|3`, `{1, 2}|1|3`, `obj.spec.list|1|3`},
	"table.maxn":   {`{1, 2}`, `obj.spec.list`},
	"table.remove": {`{1, 2}`, `{1, 2}|1`, `obj.spec.list|1`},
	"table.sort":   {`{2, 1}`, `{1, 2}|function(a, b) return a > b end`, `obj.spec.texts`, `obj.spec.list`},

	"math.abs": {`-1`}, "math.acos": {`1`}, "math.asin": {`1`}, "math.atan": {`1`}, "math.atan2": {`1|2`}, "math.ceil": {`1.5`},
	"math.cos": {`1`}, "math.cosh": {`1`}, "math.deg": {`1`}, "math.exp": {`1`}, "math.floor": {`1.5`}, "math.fmod": {`5|3`},
	"math.frexp": {`8`}, "math.ldexp": {`1|2`}, "math.log": {`2`}, "math.log10": {`100`}, "math.max": {`1|2|3`},
	"math.min": {`1|2|3`}, "math.mod": {`5|3`}, "math.modf": {`1.5`}, "math.pow": {`2|3`}, "math.rad": {`1`},
	"math.random": {``, `5`, `5|7`}, "math.randomseed": {`1`}, "math.sin": {`1`}, "math.sinh": {`1`}, "math.sqrt": {`4`},
	"math.tan": {`1`}, "math.tanh": {`1`},

	"os.date": {
		``, `"%Y-%m-%d"`, `"!%Y-%m-%dT%H:%M:%SZ"|0`, `"%c %b %B %y %p %P %I %M %X %z %Z %F %w %A %Q %% %"|1772355907.9`, `"!!%Y"|0`, `"!*t"|0`,
		`"%a"|0`,
	},
	"os.difftime": {`10|4`, `10.7|4.2`, `os.time({year=2026, month=3, day=1})|os.time(obj.spec.map)`},
	"os.time": {
		``, `nil`, `{year=2026, month=3, day=1}`, `{year="2026", month="08", day=" 09", hour="00", min="0x10", sec="1.9"}`,
		`{year="2026", month=3, day="1_0", hour="\t010", min="010", sec="never", isdst=true}`, `{year=2026, month=14, day=-3, hour={}}`,
		`obj.spec.map`, `{year=2026, month="", day={}}`,
	},

	"(ipairs({}))":                   {`{1, 2}|0`, `{1, 2}|2`, `obj.spec.list|1`},
	"(pairs({}))":                    {`{1, 2}|nil`, `{a=1}|"a"`, `obj.spec.map|nil`},
	`(string.gmatch("text", "(t)"))`: {`(select(2, string.gmatch("text", "(t)()")))`},
}

// others are what stands in the place of each argument.
var others = []string{
	"nil", "true", "false", "0", "3", "-1", "2.5", `"3"`, `" 0x10 "`, `"-1"`, `"never"`, `""`, "{}", "{3, 2, 1}", "{year=2026}",
	"function(...) return ... end", "obj", "obj.spec.list", "obj.spec.map", "obj.spec.empty",
}

// callsOf are the correct calls of a function, and all that have fewer arguments, another in one place, or one more.
func callsOf(function string) []libraryCall {
	seen := make(map[string]bool)
	var calls []libraryCall
	add := func(arguments ...string) {
		c := libraryCall{function: function, arguments: arguments}
		if seen[c.String()] {
			return
		}
		seen[c.String()] = true
		calls = append(calls, c)
		if strings.HasPrefix(function, "string.") && len(arguments) > 0 {
			calls = append(calls, libraryCall{function: function, arguments: arguments, method: true})
		}
	}
	for _, text := range correct[function] {
		var right []string
		if text != "" {
			right = strings.Split(text, "|")
		}
		add(right...)
		for i := range len(right) + 1 {
			before, after := right[:i], right[min(i+1, len(right)):]
			add(before...)
			for _, other := range others {
				add(slices.Concat(before, []string{other})...)
				add(slices.Concat(before, []string{other}, after)...)
			}
		}
	}
	return calls
}
