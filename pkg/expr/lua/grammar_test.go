// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// chooser draws a script or an object: from bytes as long as there are any, which lets a fuzzer steer it, and then from a
// random source.
type chooser struct {
	// fields is for scripts that name the object in no way but by its fields.
	fields bool
	bytes  []byte
	random *rand.Rand
}

func newChooser(data []byte, seed uint64) *chooser {
	return &chooser{bytes: data, random: rand.New(rand.NewPCG(seed, 1))}
}

func (c *chooser) n(n int) int {
	if len(c.bytes) == 0 {
		return c.random.IntN(n)
	}
	b := c.bytes[0]
	c.bytes = c.bytes[1:]
	return int(b) % n
}

func (c *chooser) of(choices ...string) string { return choices[c.n(len(choices))] }

// Names are few, so that reads meet what objects and scripts have. Some mean something to the interpreter or to us.
func (c *chooser) name() string {
	return c.of("a", "b", "c", "a", "b", "list", "map", "1", "x.y/z", "é", `q"\`, "", "kind", "name", "metadata", "__index",
		"__newindex", "__metatable", "year", "matching", "message", "resource", "resources")
}

// json writes a random value, in any of the ways in which it may be written.
func (c *chooser) json(depth int) string {
	kinds := 9
	if depth == 0 {
		kinds = 5
	}
	switch c.n(kinds) {
	case 0:
		return "null"
	case 1:
		return c.of("true", "false")
	case 2:
		return c.of("0", "1", "2", "3", "-1", "1.0", "0.5", "1e3", "1E400", "-0", "9007199254740993", "123456789012345678", "999999999999999")
	case 3, 4:
		return c.text(c.of("", "x", "y", "10", "text", "é", "\n\"\\", "\U0001F600", "a/b", "2026"))
	case 5, 6:
		return c.list(depth)
	}
	return c.object(depth, nil)
}

func (c *chooser) list(depth int) string {
	elements := make([]string, c.n(5))
	for i := range elements {
		elements[i] = c.json(depth - 1)
	}
	return "[" + c.space() + strings.Join(elements, c.space()+","+c.space()) + c.space() + "]"
}

func (c *chooser) object(depth int, fields []string) string {
	for range c.n(6) {
		fields = append(fields, c.text(c.name())+c.space()+":"+c.space()+c.json(depth-1))
	}
	if c.n(60) == 0 {
		for i := range maxIndexed + 1 {
			fields = append(fields, fmt.Sprintf(`"k%d":%s`, i%maxIndexed, c.json(0)))
		}
	}
	return "{" + c.space() + strings.Join(fields, c.space()+","+c.space()) + c.space() + "}"
}

func (c *chooser) space() string { return c.of("", "", "", "", "", " ", "\n\t") }

// text writes a string, now and then with escapes that it does not need.
func (c *chooser) text(s string) string {
	var text strings.Builder
	text.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			text.WriteString(`\` + string(r))
		case r == '\n':
			text.WriteString(`\n`)
		case r < 0x10000 && c.n(12) == 0:
			fmt.Fprintf(&text, `\u%04x`, r)
		default:
			text.WriteRune(r)
		}
	}
	text.WriteByte('"')
	return text.String()
}

// item is an object of a list response, as an API server writes it: perhaps without kind and apiVersion.
func (c *chooser) item(name string) string {
	metadata := []string{`"namespace":"default"`, `"name":"` + name + `"`, `"uid":"uid-` + name + `"`, `"resourceVersion":"1"`}
	spec := []string{`"a":` + c.object(2, nil), `"list":[` + c.object(1, nil) + `,` + c.json(2) + `]`, `"map":` + c.object(3, nil)}
	fields := []string{
		`"metadata":` + c.object(2, metadata), `"spec":` + c.object(3, spec), `"list":` + c.list(3), `"a":` + c.object(3, nil),
	}
	if c.n(4) == 0 {
		fields = append(fields, `"kind":`+c.json(1), `"apiVersion":"other/v1"`)
	}
	return c.object(1, fields)
}

// expand draws a template and fills it: $e with an expression, $t with a table, $p with a place that can be read and
// written, $k with a key, $v with a variable, $q with a quoted name, $s with a statement.
func (c *chooser) expand(depth int, templates []string) string {
	template := templates[c.n(len(templates))]
	var text strings.Builder
	for {
		before, after, found := strings.Cut(template, "$")
		text.WriteString(before)
		if !found {
			return text.String()
		}
		text.WriteString(c.part(after[0], depth))
		template = after[1:]
	}
}

func (c *chooser) part(letter byte, depth int) string {
	switch letter {
	case 'e':
		if depth <= 0 {
			return c.expand(0, simple)
		}
		return c.expand(depth-1, expressions)
	case 't':
		return c.expand(0, tables)
	case 'k':
		return c.expand(0, keys)
	case 'v':
		if c.fields {
			return c.of("v1", "v2", "v3", "v4", "v5", "v6", "obj.spec", "obj.a")
		}
		return c.of("v1", "v2", "v3", "v4", "v5", "v6", "obj")
	case 'q':
		return strconv.Quote(c.name())
	case 's':
		if depth <= 0 {
			return ""
		}
		return c.expand(depth-1, statements)
	}
	place := c.expand(0, bases)
	for range c.n(2) + c.n(2) {
		place += c.expand(0, steps)
	}
	return place
}

// The templates. What stands more than once is drawn more often. v1 to v6 are variables of the script.
var (
	simple = []string{"$v", "$v", "nil", "true", "1", "2", "0", "0.5", "3", `"x"`, `"10"`, "$q", "{}", "-1", "0/0"}
	tables = []string{"$v", "$v", "$p", "($p or obj.spec)", "(v6 or obj.list)"}
	bases  = []string{"$v.a", "$v.spec", "$v.list", "$v.list[1]", "$v.map", "obj.spec", "obj.spec.list", "obj.a", "v2.a", "v3[1]", "v4[1]", "$v[$k]"}
	keys   = []string{"$q", "$q", "$q", "1", "2", "3", "0", "-1", "1.5", "1e300", "$v", "nil", "true", "0/0"}
	steps  = []string{
		".a", ".b", ".c", ".list", ".map", ".spec", ".metadata", ".kind", ".name", "[1]", "[2]", "[$k]", "[$k]",
	}
	expressions = []string{
		"$p", "$p", "$p", "$e", "$e", "#$e", "#$p", "$e == $e", "$e .. $e", "$e + $e", "$e < $e", "{$e, $e}", "{[$k]=$e, b=$e}",
		"{unpack($p)}", "rawget($t, $k)", "rawequal($e, $e)", "next($t)", "next($t, $k)", "select('#', unpack($t))",
		"table.concat($t, ',')", "table.concat($t, '-', 2)", "table.maxn($t)", "table.getn($t)", "unpack($t, 1, 3)",
		"getmetatable($t)", "type($e)", "tonumber($e)", "type($p) ~= 'table' and tostring($p)", "os.time($t)", `("a b 1"):gsub("%w", $t)`, `("x"):rep($e)`,
		`string.format("%s", $q)`, "setmetatable({}, $t)", "setmetatable({}, {__index=$t})", "setmetatable({}, {__newindex=$t})",
		"math.max($e, $e)", "assert($e, 'no')", "table.remove($t)", "select(2, pcall(next, $t, $k))",
		"(function(...) return select('#', ...) end)(unpack($t))", "(pairs({}))($t, $k)", "(ipairs({}))($t, $k)",
	}
	statements = []string{
		"$v = $e", "$v = $e", "$v = $e", "$p = $e", "$p = $e", "$p = $e", "$p = $e", "$p = nil", "$p = nil", "note($e, $e)", "note($e, $e)",
		"show($t)", "table.insert($t, $e)", "table.insert($t, $k, $e)", "note(table.remove($t, $k))", "rawset($t, $k, $e)",
		"local n = 0 for k, v in pairs ($t) do n = n + 1 if n > 8 then break end note(k, v) v6 = v $s end",
		"local n = 0 for k, v in ipairs ($t) do n = n + 1 if n > 8 then break end note(k, v) v6 = v $s end",
		"local n = 0 for k, v in next, $t do n = n + 1 if n > 8 then break end note(k, v) v6 = v $s end",
		"table.sort($t)", "table.sort($t, function(x, y) return rank(x) < rank(y) end)", "table.sort($t, function(x, y) return x.name > y.name end)",
		"setmetatable($t, {__index=$t})", "setmetatable($t, {__index=function(t, k) return k end})", "setmetatable($t, {__newindex=$t})",
		"setmetatable($t, $t)", "setmetatable($t, nil)", "setmetatable($t, {__metatable=1})",
		"setmetatable($t, {__len=function() return 7 end, __eq=function() return true end})",
		// Tables as keys, and aliases of one table.
		"local t = {} t[$t] = 1 note(t[$t], t[$t])", "local a = $t a.x = 1 note(a.x, $t.x) keep[#keep+1] = a", "local a, b = $t, $t note(a == b, a.x == b.x)",
		"local f, s, k = pairs($t) note(f($t, k)) note(f(s, k))", "local f, s, k = ipairs($t) note(f($t, k)) note(f(s, k))",
	}
	// globalStatements change what the script shares with others, which it must not.
	globalStatements = []string{
		"for k, v in pairs(_G) do note(k, type(v)) end", "for k, v in pairs(table) do note(k, type(v)) end", "pairs = nil", "metrics = $e",
		"metrics.a = $e", "note(metrics.a, next(events), #logs)", "_G.x = $e", "note(rawget(_G, $q), x)", "x = nil", "note(x, _G == _G._G, _G)",
		"string.sub = nil", "function string:f() return 1 end", `note(("x"):f())`, "setmetatable(_G, {__index=function(_, k) return k end})",
		"note(undefined)", "rawset(_G, 'x', 1)", "note(getmetatable(_G), getmetatable(string), #string, rawget(os, 'time') == os.time)",
		"table.insert(string, 1)", "_G._G = nil", "string = {}", "next = 1 next = nil note(next)", "unpack = print", "note(next(math))", "_G[$k] = $e",
	}
)

// prelude defines what the statements use. show walks everything, with each kind of loop, and rank orders what < does not.
const prelude = `
local keep = {}
local function rank(x) return type(x) == "number" and x or type(x) == "string" and #x or 0 end
local function show(t, depth)
	depth = depth or 0
	if type(t) ~= "table" or depth > 4 then return note(t) end
	note(depth, #t)
	for i, v in ipairs(t) do note(i, v) end
	local n = 0
	for k, v in pairs(t) do
		n = n + 1 if n > 80 then break end
		note(k) show(v, depth + 1)
	end
end
local function try(f) local ok, e = pcall(f) if not ok then note("error", e) end end
`

// script draws a whole script. Most statements are protected, so that those behind a faulty one run too.
func (c *chooser) script(function, start string, results []string) string {
	var text strings.Builder
	parameter := "o"
	if c.fields {
		parameter = ""
	}
	text.WriteString(prelude + "function " + function + "(" + parameter + ")\n" + start)
	for range 2 + c.n(8) {
		templates := statements
		if c.n(20) == 0 {
			templates = globalStatements
		}
		statement := c.expand(2, templates)
		if c.n(20) > 0 {
			statement = "try(function() " + statement + " end)"
		} else {
			statement = "do " + statement + " end"
		}
		text.WriteString(statement + "\n")
	}
	text.WriteString("return " + c.expand(1, results) + "\nend\n")
	return text.String()
}
