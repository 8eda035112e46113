// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	gopher "github.com/yuin/gopher-lua"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// tricky has what lazy tables are easily wrong about. Its kind and apiVersion are not those of its list.
const tricky = ` {"kind":"Wrong","metadata":{"namespace":"default","name":"x","uid":"u"},"spec":{
	"a":{"b":{"c":1}},"list":[null,1,null,{"k":"v"},null],"nulls":[null,null],"empty":[],"none":null,"twice":1,"twice":{"k":2},"gone":1,"gone":null,
	"escaped":{"q\"\\":1,"\u0061":2,"é":3},"big":9007199254740993,"float":1.0,"exp":1e3,"text":"a\nb\u00e9",
	"meta":{"__index":{"inherited":"yes"}},"date":{"year":2026,"month":3,"day":1},"words":["b","a"],
	"quote":{"a\" : \"b":1,"a":"x"}}}`

func TestLazyTables(t *testing.T) {
	cases := []struct{ name, body, want string }{
		{"root has the kind of its list", `return obj.kind .. " " .. obj.apiVersion`, "Deployment apps/v1"},
		{"also in pairs", `return keys(obj) .. " " .. obj.kind`, "apiVersion kind metadata spec Deployment"},
		{"also by rawget and next", `local k, v = next(obj) return k .. "=" .. v .. rawget(obj, "kind")`, "apiVersion=apps/v1Deployment"},
		{"written kind stays", `obj.kind = "Mine" return obj.kind .. keys(obj)`, "MineapiVersion kind metadata spec"},
		{"parts have no kind", `return tostring(obj.spec.kind)`, "nil"},

		{"write to an untouched table", `s.a.x = 1 return s.a.x .. " " .. keys(s.a) .. s.a.b.c`, "1 b x1"},
		{"delete from an untouched table", `s.a = nil return tostring(s.a) .. tostring(rawget(s, "a"))`, "nilnil"},
		{"delete stays deleted when the table becomes plain", `s.a = nil keys(s) return tostring(s.a)`, "nil"},
		{"write is seen through an alias", `local a = obj.spec a.x = 1 return obj.spec.x`, "1"},
		{"write to what was read before", `local b = s.a.b s.a.b.c = 2 return b.c`, "2"},
		{"child survives the parent becoming plain", `local b = s.a.b keys(s) keys(s.a) b.c = 5 return s.a.b.c`, "5"},
		{
			"nil key and NaN key", `return tostring(select(2, pcall(function() s[nil] = 1 end))) .. tostring(select(2, pcall(function() s[0/0] = 1 end)))`,
			"script:12: table index is nilscript:12: table index is NaN",
		},

		{"one table for one value", `return tostring(obj.spec == obj.spec and s.a.b == s.a.b and s.a ~= s.list)`, "true"},
		{"as keys", `local t = {} t[s.a] = "found" keys(s) return t[obj.spec.a]`, "found"},
		{"as keys after becoming plain", `local t = {} t[s.a] = "found" s.a.x = 1 return t[obj.spec.a]`, "found"},
		{"stored in a table", `local t = {} table.insert(t, s.a) t.x = s.a return tostring(t[1] == t.x and t.x == s.a)`, "true"},

		{"metatable is not shown", `return tostring(getmetatable(s)) .. tostring(getmetatable(obj))`, "nilnil"},
		{"metatable of its own", `setmetatable(s, {__index=function(_, k) return k .. "!" end}) return s.nothing .. s.a.b.c`, "nothing!1"},
		{"metatable set twice", `setmetatable(s, {}) setmetatable(s, nil) return s.a.b.c .. tostring(getmetatable(s))`, "1nil"},
		{"as a metatable", `return setmetatable({}, s.meta).inherited`, "yes"},
		{"as an __index", `return setmetatable({}, {__index=s.a}).b.c`, "1"},
		{"as a __newindex", `setmetatable({}, {__newindex=s.a}).x = 4 return s.a.x`, "4"},
		{"protected by its own metatable", `setmetatable(s, {__metatable="mine"}) return getmetatable(s)`, "mine"},

		{"null is absent", `return tostring(s.none) .. tostring(keys(s):find("none"))`, "nilnil"},
		{"nulls are not in lists", `return s.list[1] .. s.list[2].k .. tostring(s.list[3]) .. #s.list .. #s.nulls .. tostring(next(s.nulls))`, "1vnil20nil"},
		{"ipairs sees what stands behind a null", `local n = 0 for i in ipairs(s.list) do n = n + i end return n`, "3"},
		{"pairs counts without nulls", `local n = 0 for i in pairs(s.list) do n = n + i end return n`, "3"},
		{"nor in a plain list", `table.insert(s.list, "x") return #s.list .. s.list[2].k .. s.list[3]`, "3vx"},
		{"unpack", `return select("#", unpack(s.list)) .. select(2, unpack(s.list)).k`, "2v"},
		{"last of equal names", `return s.twice.k .. tostring(s.gone)`, "2nil"},
		{"last of equal names in pairs", `local n = 0 for k, v in pairs(s) do if k == "twice" then n = n + v.k end end return n .. tostring(keys(s):find("gone"))`, "2nil"},
		{"escaped names", `local e = s.escaped return e['q"\\'] .. e.a .. e["é"] .. keys(e)`, `123a q"\ é`},
		{"a name is not found across names", `return tostring(s.quote['a" : "b']) .. tostring(s.quote['a":"x']) .. s.quote.a`, "1nilx"},
		{"numbers are doubles", `return s.big .. " " .. s.float .. " " .. s.exp`, "9007199254740992 1 1000"},
		{"text", `return s.text`, "a bé"},

		{"length of a map, an empty list", `return #s .. #s.empty .. #s.words`, "002"},
		{
			"numbers of a map, names of a list", `return tostring(s[1]) .. tostring(s.list.k) .. tostring(s.list[0]) .. tostring(s.list[1.5]) .. tostring(s.list[9])`,
			"nilnilnilnilnil",
		},
		{"sort", `table.sort(s.words) return table.concat(s.words, ",")`, "a,b"},
		{"insert and remove", `table.insert(s.words, 1, "c") return table.remove(s.words) .. table.concat(s.words, ",") .. #s.words`, "ac,b2"},
		{"getn and maxn", `return table.getn(s.words) .. table.maxn(s.list)`, "22"},
		{"concat of what was not read", `return table.concat(s.words, "-")`, "b-a"},
		{"rawset", `rawset(s.a, "x", 1) return s.a.x .. s.a.b.c`, "11"},
		{"rawequal", `return tostring(rawequal(s.a, obj.spec.a))`, "true"},
		{"iterators of other tables", `local f = pairs({}) local g = ipairs({}) local k = f(s.a) local _, v = g(s.words, 1) return k .. v`, "ba"},
		{"gsub by a table", `return (("$year-$x"):gsub("%$(%w+)", s.date))`, "2026-$x"},
		{"os.time of a table", `return os.time(s.date)`, "1772366400"},
		{"next from a name", `return tostring(next(s.date, "day")) .. tostring(next(s.empty))`, "monthnil"},
		{"type and tostring", `return type(s) .. tostring(tostring(s):find("table: ", 1, true))`, "table1"},
	}
	o := object.Object{Kind: kind("apps", "v1", "Deployment"), Raw: []byte(tricky)}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := session(t, `
				local function keys(t)
					local all = {}
					for k in pairs(t) do all[#all+1] = k end
					return table.concat(all, " ")
				end
				function evaluate()
					local s = obj.spec
					local function body(...)
						-- the case stands in line 12

						`+c.body+`
					end
					return {message=tostring(body())} end`)
			got, err := s.Evaluate(t.Context(), o)
			if err != nil || got.Message != c.want {
				t.Errorf("got %q, %v; want %q", got.Message, err, c.want)
			}
		})
	}
}

// TestWhatForces says which tables become plain, because that is what costs.
func TestWhatForces(t *testing.T) {
	raw := `{"spec":{"list":[{"a":1},{"a":2}],"map":{"x":{"y":1}},"unsorted":{"b":{"c":1},"a":{}},"twice":{"a":1,"a":2}}}`
	cases := []struct{ body, forced string }{
		{`return obj.spec.map.x.y`, ""},
		{`return #obj.spec.list .. #obj.spec.map`, ""},
		{`for i, e in ipairs(obj.spec.list) do local x = e.a end`, ""},
		{`local a, b, c, d = rawget(obj.spec, "map"), obj.spec == obj.spec, type(obj.spec), getmetatable(obj)`, ""},
		{`for k, v in pairs(obj.spec.map) do for k, v in pairs(v) do end end`, ""},
		{`for k, v in pairs(obj.spec.list) do for k, v in pairs(v) do end end`, ""},
		{`local f, t = pairs(obj.spec.map) local k = next(t) next(t, k) f(t, k)`, ""},
		{`for k, v in pairs(obj.spec.unsorted) do end local x = obj.spec.unsorted.b`, ""},
		{`local x = obj.spec.unsorted.b for k, v in pairs(obj.spec.unsorted) do end`, "unsorted"},
		{`for k, v in pairs(obj.spec.twice) do end`, "twice"},
		{`for k, v in pairs(obj.spec.map) do obj.spec.map[k] = nil end`, "map"},
		{`next(obj.spec.map, "none")`, "map"},
		{`local t = {} table.insert(t, obj.spec.list) rawset(t, "x", obj.spec.map) t[obj.spec.list[1]] = obj.spec.map`, ""},
		{`table.insert(obj.spec.list, obj.spec.map)`, "list"},
		{`obj.spec.map = obj.spec.list`, "spec"},
		{`unpack(obj.spec.list)`, "list"},
		{`next(obj)`, "root"},
	}
	for _, c := range cases {
		s := session(t, "function evaluate() "+c.body+" end")
		o := object.Object{Kind: kind("", "v1", "Thing"), Raw: []byte(raw)}
		if err := s.open(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		s.box.forced, s.box.transforming = map[*gopher.LTable]*lazy{}, true
		root, err := s.root(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.run(t.Context(), call{function: "evaluate", global: "obj", argument: &root.LTable, limit: time.Minute}); err != nil {
			t.Fatal(err)
		}
		names := map[string]string{raw: "root"}
		for _, name := range []string{"spec", "list", "map", "unsorted", "twice"} {
			if name == "spec" {
				names[string(object.JSON(raw).Field(name))] = name
				continue
			}
			names[string(object.JSON(raw).At("spec", name))] = name
		}
		var forced []string
		for _, l := range s.box.forced {
			forced = append(forced, names[string(l.text())])
		}
		if got := strings.Join(forced, " "); got != c.forced {
			t.Errorf("%s made %q plain, want %q", c.body, got, c.forced)
		}
	}
}

// TestTableOfAnotherCallIsDead lets a table outlive its call, as no script can, and looks that nobody reads its text.
func TestTableOfAnotherCallIsDead(t *testing.T) {
	s := session(t, `function evaluate() return {message = stolen and stolen.spec.secret or "none"} end`)
	raw := []byte(`{"spec":{"secret":"x"}}`)
	o := object.Object{Kind: kind("", "v1", "Thing"), Raw: raw}
	if err := s.open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	old, err := s.root(o)
	if err != nil {
		t.Fatal(err)
	}
	s.box.globals.shared.RawSetString("stolen", &old.LTable)
	_, err = s.Evaluate(t.Context(), o)
	if want := "line 1: a table of an object was used after its call had ended"; text(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestNoMap(t *testing.T) {
	for _, raw := range []string{"", " ", "null", "[]", `"x"`, "1"} {
		o := object.Object{Kind: kind("", "v1", "Thing"), Name: "x", Raw: []byte(raw)}
		const want = "reading Thing x: its JSON is no map"
		if _, err := session(t, "function evaluate() return {} end").Evaluate(t.Context(), o); text(err) != want {
			t.Errorf("Evaluate of %q: %v", raw, err)
		}
		if _, _, err := session(t, "function transform() end").Transform(t.Context(), o); text(err) != want {
			t.Errorf("Transform of %q: %v", raw, err)
		}
		if _, err := session(t, "function evaluate() end").Aggregate(t.Context(), collection(o)); text(err) != want {
			t.Errorf("Aggregate of %q: %v", raw, err)
		}
	}
}

// TestTextThatIsNotWellFormed looks that nothing worse than a wrong answer comes of it.
func TestTextThatIsNotWellFormed(t *testing.T) {
	const walk = `local function walk(t) for k, v in pairs(t) do if type(v) == "table" then walk(v) end end for i, v in ipairs(t) do end return #t end
		function evaluate(o) local x = o.spec and o.spec.a walk(o) return {} end
		function transform(o) o.new = 1 walk(o) return {resource=o} end`
	whole := strings.TrimSpace(tricky)
	s := session(t, walk)
	for i := 1; i < len(whole); i++ {
		for _, raw := range []string{whole[:i], whole[:i] + "]" + whole[i+1:], whole[:i] + whole[i+1:], whole[:i] + `"` + whole[i:]} {
			o := object.Object{Kind: kind("", "v1", "Thing"), Raw: []byte(raw)}
			_, err := s.Evaluate(t.Context(), o)
			_, _, transformErr := s.Transform(t.Context(), o)
			if err := errors.Join(err, transformErr); err != nil && strings.Contains(err.Error(), "interpreter failed") {
				t.Fatalf("%s: %v", raw, err)
			}
		}
	}
}

func TestLargeMaps(t *testing.T) {
	var fields []string
	for i := range 5000 {
		fields = append(fields, fmt.Sprintf(`"k%d":%d`, i, i))
	}
	o := object.Object{Kind: kind("", "v1", "Thing"), Raw: []byte(`{"data":{` + strings.Join(fields, ",") + `}}`)}
	s := session(t, `function evaluate() local sum = 0 for i = 0, 4999 do sum = sum + obj.data["k" .. i] end return {message=tostring(sum)} end`)
	got, err := s.Evaluate(t.Context(), o)
	if err != nil || got.Message != "12497500" {
		t.Errorf("%v, %v", got, err)
	}
}
