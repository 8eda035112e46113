// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	gopher "github.com/yuin/gopher-lua"
)

// TestReachable compares everything that a script can reach with a reviewed list, so that an upgrade of the interpreter
// brings scripts nothing new unseen.
func TestReachable(t *testing.T) {
	box := newSandbox(session(t, "").functions())
	defer box.close()
	env := box.environment()
	var names []string
	seen := map[gopher.LValue]bool{}
	var walk func(name string, value gopher.LValue)
	walk = func(name string, value gopher.LValue) {
		names = append(names, name+" "+value.Type().String())
		if seen[value] {
			return
		}
		switch value := value.(type) {
		case *gopher.LTable:
			seen[value] = true
			box.plain(value)
			if value.Metatable != gopher.LNil {
				walk(name+"<metatable>", value.Metatable)
			}
			value.ForEach(func(k, v gopher.LValue) { walk(name+"."+k.String(), v) })
		case *gopher.LFunction:
			for i, up := range value.Upvalues {
				walk(fmt.Sprintf("%s<upvalue %d>", name, i+1), up.Value())
			}
		}
	}
	walk("_G", env)
	for _, value := range []gopher.LValue{
		gopher.LString(""), gopher.LNumber(1), gopher.LTrue, gopher.LNil, env.RawGetString("print"), box.state.NewUserData(),
	} {
		walk("getmetatable("+value.Type().String()+")", box.state.GetMetatable(value))
	}
	slices.Sort(names)
	got := strings.Join(names, "\n") + "\n"
	const golden = "testdata/reachable.txt"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("reachable names changed; review them and run with UPDATE_GOLDEN=1:\n%s", diff)
	}
}

func TestEscapesAreGone(t *testing.T) {
	for _, expression := range []string{
		"io", "package", "debug", "channel", "coroutine", "load", "loadfile", "loadstring", "dofile", "require", "module",
		"setfenv", "getfenv", "newproxy", "collectgarbage", "_printregs", "string.dump", "getmetatable(_G)",
		"os.execute", "os.exit", "os.getenv", "os.setenv", "os.remove", "os.rename", "os.tmpname", "os.setlocale", "os.clock",
		"getmetatable(print)", "getmetatable(1)", "getmetatable(string)",
	} {
		if got := message(t, `function evaluate() return {message=tostring(`+expression+`)} end`); got != "nil" {
			t.Errorf("%s is %s", expression, got)
		}
	}
}

// TestPoisoning lets a script spoil what it can for one object, and looks from the next one.
func TestPoisoning(t *testing.T) {
	attacks := map[string]string{
		"library function":  `string.rep = nil; table.insert = error; math.floor = 3; os.time = function() return 0 end`,
		"library replaced":  `string = nil; table = {}; os = false; math = print`,
		"base replaced":     `pairs = nil; tostring = nil; type = error; setmetatable = nil`,
		"rawset":            `rawset(string, "rep", nil); rawset(os, "time", 1); rawset(_G, "pairs", nil)`,
		"table functions":   `table.insert(string, 1); table.insert(table, 1); for k in pairs(math) do math[k] = nil end`,
		"addition":          `string.evil = 1; math[1] = 1; os[true] = 1`,
		"library metatable": `setmetatable(string, {__index=function() return 1 end}); setmetatable(os, {__metatable=1})`,
		"environment":       `setmetatable(_G, {__index=function() return 1 end, __newindex=error}); rawset(_G, "leak", 1)`,
		"through _G":        `_G.leak = 1; _G.string.rep = nil; _G._G = nil`,
		"global":            `leak = 1; obj = 1; metrics.leak = 1; events[1] = 1; logs = "x"; logsByContainer.a = 1`,
		"type metatables": `pcall(setmetatable, 1, {__index={leak=1}}); pcall(setmetatable, print, {__index={leak=1}})
			pcall(setmetatable, true, {__index={leak=1}}); pcall(setmetatable, "", {__index={leak=1}}); pcall(setmetatable, nil, {})`,
		"string metatable":     `pcall(function() getmetatable("").__index = {} end); pcall(rawset, getmetatable(""), "__index", 1)`,
		"string method":        `function string:leak() return 1 end; assert(("x"):leak() == 1)`,
		"random seed":          `math.randomseed(1)`,
		"chunk upvalue":        `counter = counter + 5`,
		"function replacement": `function evaluate() return {message="poisoned"} end`,
	}
	probe := `
		if obj.spec.attack then ATTACK return {} end
		local function thing(f, ...) local ok, v = pcall(f, ...) return ok and tostring(v) or "error" end
		local seen = {
			("ab"):rep(2), string.rep("x", 2), tostring(math.floor(2.5)), tostring(os.time()), type(pairs), type(setmetatable),
			tostring(leak), tostring(string.evil), tostring(math[1]), tostring(os[true]), tostring(getmetatable(string)),
			tostring(getmetatable(_G)), tostring(getmetatable("")), tostring(next(metrics)), tostring(next(events)), logs,
			tostring(next(logsByContainer)), thing(function() return (1).leak end), thing(function() return print.leak end),
			thing(function() return ("").leak end), thing(function() return (true).leak end), tostring(_G._G == _G),
			tostring(math.random(1000000)), tostring(counter), tostring(undefined),
		}
		return {message=table.concat(seen, ",")}`
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			source := "counter = 1 function evaluate() " + strings.Replace(probe, "ATTACK", attack, 1) + " end"
			fresh, err := session(t, source).Evaluate(t.Context(), deployment(t, `,"spec":{}`))
			if err != nil {
				t.Fatal(err)
			}
			s := session(t, source)
			for range 2 {
				if _, err := s.Evaluate(t.Context(), deployment(t, `,"spec":{"attack":true}`)); err != nil {
					t.Fatalf("attack: %v", err)
				}
				after, err := s.Evaluate(t.Context(), deployment(t, `,"spec":{}`))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(fresh, after); diff != "" {
					t.Error(diff)
				}
			}
			want := "abab,xx,2,1772355907,function,function,nil,nil,nil,nil,nil,nil,false,nil,nil,,nil,error,error,nil,error,true,"
			if !strings.HasPrefix(fresh.Message, want) {
				t.Errorf("fresh session saw %s", fresh.Message)
			}
		})
	}
}

func TestTablesOfLibrariesAreUsable(t *testing.T) {
	cases := map[string]string{
		`(function() local n = 0 for _ in pairs(string) do n = n + 1 end return n > 10 end)()`: "true",
		`next({}) == nil and next({a=1})`: "a",
		`#{1, 2, 3}`:                      "3",
		`(function() function string:first() return self:sub(1, 1) end return ("abc"):first() end)()`: "a",
		`("a-b"):gsub("%w", {a="1"})`: "1-b",
		`select("#", 1, 2)`:           "2",
		`table.concat({1, 2}, ",")`:   "1,2",
		`_VERSION`:                    "Lua 5.1",
	}
	for expression, want := range cases {
		if got := message(t, `function evaluate() return {message=tostring((`+expression+`))} end`); got != want {
			t.Errorf("%s: got %s, want %s", expression, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	cases := map[string]string{
		`os.time()`:    "1772355907",
		`os.time(nil)`: "1772355907",
		`os.time({year=2026, month=3, day=1, hour=9, min=5, sec=7})`:                  "1772355907",
		`os.time({year="2026", month="03", day="01", hour="09", min="05", sec="08"})`: "1772355908",
		`os.time({year=2026, month=3, day=1})`:                                        "1772366400",
		`os.time(os.date("*t"))`:                                                      "1772355907",
		`os.time(os.date("!*t", 1700000000))`:                                         "1700000000",
		`os.date("*t").yday .. " " .. os.date("*t").wday`:                             "60 1",
		`os.date("%Y-%m-%dT%H:%M:%SZ")`:                                               "2026-03-01T09:05:07Z",
		`os.date("!%Y-%m-%d %a %A %b %B %y %p %I %j %w %%", 0)`:                       "1970-01-01 Thu Thursday Jan January 70 AM 12 001 4 %",
		`os.date()`:          "01 Mar 26 09:05 UTC",
		`os.date("%Q %")`:    "%Q %",
		`os.difftime(10, 4)`: "6",
		`os.difftime(os.time(), os.time({year=2026, month=2, day=28, hour=9, min=5, sec=7})) / 3600`: "24",
		`select(2, pcall(os.time, {year=2026, month=1}))`:                                            "script:1: field 'day' missing in date table",
	}
	for expression, want := range cases {
		if got := message(t, `function evaluate() return {message=tostring(`+expression+`)} end`); got != want {
			t.Errorf("%s: got %s, want %s", expression, got, want)
		}
	}
}

// TestAnExpiryThatIsNoDate looks at an object that is to stay: with k8s-cleaner the script fails on it.
func TestAnExpiryThatIsNoDate(t *testing.T) {
	script := `
		local function moment(text)
			local year, month, day = text:match("^(%d+)-(%d+)-(%d+)T")
			if year then return os.time({year=year, month=month, day=day}) end
		end
		function evaluate()
			return {matching = os.difftime(os.time(), moment(obj.metadata.annotations["cleaner/expires"])) > 0}
		end`
	for _, expires := range []string{"never", "2026-03-02", "+5d"} {
		o := newObject(t, kind("", "v1", "ConfigMap"), `{"metadata":{"name":"a","uid":"u","resourceVersion":"1","annotations":{"cleaner/expires":"`+expires+`"}}}`)
		match, err := session(t, script).Evaluate(t.Context(), o)
		if want := "line 7: bad argument #2 to difftime (number expected, got nil)"; text(err) != want || match.Matching {
			t.Errorf("%s: %v and error %q, want error %q", expires, match, text(err), want)
		}
	}
}

func TestRandomDependsOnSeedAndObjectOnly(t *testing.T) {
	source := `function evaluate() return {message=math.random(1e9) .. " " .. math.random() .. " " .. math.random(5, 5)} end`
	draw := func(seed int64, names ...string) string {
		s := sessionWith(t, source, Options{Seed: seed})
		var last Match
		for _, name := range names {
			var err error
			if last, err = s.Evaluate(t.Context(), configMap(t, name)); err != nil {
				t.Fatal(err)
			}
		}
		return last.Message
	}
	want := draw(1, "a")
	if !strings.HasSuffix(want, " 5") {
		t.Errorf("math.random(5, 5) in %q", want)
	}
	if got := draw(1, "b", "c", "a"); got != want {
		t.Errorf("after other objects %q, want %q", got, want)
	}
	if draw(2, "a") == want || draw(1, "b") == want {
		t.Error("another seed or object gave the same numbers")
	}
	seeded := message(t, `function evaluate() math.randomseed(7) local a = math.random() math.randomseed(7)
		return {message=tostring(a == math.random())} end`)
	if seeded != "true" {
		t.Error("math.randomseed does not start anew")
	}
}

func TestPrint(t *testing.T) {
	var lines []string
	s := sessionWith(t, `print("top", 1, nil, true) function evaluate() print(("x"):rep(1000)) print("a\nb") return {} end`,
		Options{Print: func(line string) { lines = append(lines, line) }})
	for range 100 {
		if _, err := s.Evaluate(t.Context(), deployment(t, "")); err != nil {
			t.Fatal(err)
		}
	}
	if len(lines) != 64 {
		t.Errorf("%d lines", len(lines))
	}
	want := []string{"top 1 nil true", strings.Repeat("x", 256), "a b", "top 1 nil true"}
	if diff := cmp.Diff(want, lines[:4]); diff != "" {
		t.Error(diff)
	}
	if got := message(t, `function evaluate() print("dropped") return {message="ok"} end`); got != "ok" {
		t.Errorf("without Print: %s", got)
	}
}
