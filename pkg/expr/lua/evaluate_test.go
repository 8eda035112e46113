// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEvaluateResults(t *testing.T) {
	cases := []struct {
		name, source string
		want         Match
		wantErr      string
	}{
		{name: "match", source: `function evaluate() return {matching=true, message="idle"} end`, want: Match{true, "idle"}},
		{name: "argument", source: `function evaluate(o) return {matching=o.metadata.name=="web"} end`, want: Match{true, ""}},
		{name: "global", source: `function evaluate() return {matching=obj.kind=="Deployment"} end`, want: Match{true, ""}},
		{name: "missing matching", source: `function evaluate() return {message="x"} end`, want: Match{false, "x"}},
		{name: "another case", source: `function evaluate() return {1, Matching=true, MESSAGE="x"} end`, want: Match{true, "x"}},
		{name: "the name itself first", source: `function evaluate() return {Matching=true, matching=false} end`},
		{name: "several cases", source: `function evaluate() return {mATCHING=true, Matching=false, MATCHING=false} end`, want: Match{true, ""}},
		{
			name: "wrong in another case", source: `function evaluate() return {Matching="true"} end`,
			wantErr: "evaluate returned a matching that is a string; it must be true or false",
		},
		{name: "extra fields", source: `function evaluate() return {matching=true, f=print, more={1}} end`, want: Match{true, ""}},
		{name: "undeclared globals", source: `function evaluate() hs = {} hs.matching = undefined == nil return hs end`, want: Match{true, ""}},
		{
			name:   "inner function",
			source: `function evaluate() function helper() return true end return {matching=helper()} end`, want: Match{true, ""},
		},
		{name: "chunk locals", source: `local limit = 3 function evaluate() return {matching=limit==3} end`, want: Match{true, ""}},
		{
			name: "data globals before the chunk",
			source: `ok = type(metrics)=="table" and next(events)==nil and logs=="" and logsPrevious=="" and obj==nil and
				type(logsByContainer)=="table" and type(logsPreviousByContainer)=="table"
				function evaluate() return {matching=ok and obj~=nil} end`,
			want: Match{true, ""},
		},
		{name: "arg of the chunk", source: `n = arg function evaluate(...) return {message=tostring(n) .. arg.n} end`, want: Match{false, "nil1"}},
		{name: "arguments of the chunk", source: `n = select("#", ...) function evaluate() return {message=tostring(n)} end`, want: Match{false, "0"}},
		{name: "goto", source: `function evaluate() goto out ::out:: return {matching=true} end`, want: Match{true, ""}},
		{name: "result with metatable is read raw", source: `function evaluate() return setmetatable({}, {__index={matching=true}}) end`},

		{
			name: "no function", source: `local function evaluate() end`,
			wantErr: "the script has no global function evaluate; write: function evaluate() return {matching=true} end",
		},
		{
			name: "no result", source: `function evaluate() end`,
			wantErr: `evaluate returned nothing; return a table such as {matching=true, message="why"}`,
		},
		{
			name: "boolean", source: `function evaluate() return true end`,
			wantErr: `evaluate returned a boolean; return a table such as {matching=true, message="why"}`,
		},
		{
			name: "matching text", source: `function evaluate() return {matching="yes"} end`,
			wantErr: "evaluate returned a matching that is a string; it must be true or false",
		},
		{
			name: "message number", source: `function evaluate() return {message=3} end`,
			wantErr: "evaluate returned a message that is a number; use tostring to make it a text",
		},
		{
			name: "nil index", source: "function evaluate()\n  return obj.spec.replicas\nend",
			wantErr: "line 2: attempt to index a non-table object(nil) with key 'replicas'; the value before .replicas is nil: check it first, for example (x or {}).replicas",
		},
		{name: "raised", source: `function evaluate() error("no " .. "good") end`, wantErr: "line 1: no good"},
		{name: "raised without position", source: "function evaluate()\nerror('plain', 0)\nend", wantErr: "line 2: plain"},
		{
			name: "raised again", source: "function evaluate()\nlocal ok, e = pcall(error, 'x', 1)\nlocal ok, e = pcall(function()\nerror('deep') end)\nerror(e)\nend",
			wantErr: "line 4: deep",
		},
		{
			name: "raised table", source: `function evaluate() error({}) end`,
			wantErr: "line 1: the script raised an error that is a table; call error with a text",
		},
		{name: "chunk", source: "\nlocal x = nil + 1", wantErr: "line 2: cannot perform add operation between nil and number"},
		{name: "library argument", source: "function evaluate()\n\n ipairs(nil)\nend", wantErr: "line 3: bad argument #1 to ipairs (table expected, got nil)"},
		{name: "length of nothing", source: `function evaluate() return {matching = #obj.nothere > 0} end`, wantErr: "line 1: __len undefined; the value after # is nil, or neither a list nor a text: check it first, for example #(x or {})"},
		{name: "nothing in a text", source: `function evaluate() return {matching = true, message = "a" .. obj.nothere} end`, wantErr: `line 1: cannot perform concat operation between string and nil; one of the two values is nil: check it first, for example (x or "")`},
		{name: "stack overflow", source: `function f() return 1 + f() end evaluate = f`, wantErr: "line 1: stack overflow; a function calls itself without end, or calls are nested too deeply: look for a recursion that does not stop"},
		{
			name: "library panic", source: "function evaluate()\n string.find('abc', 'x', 10, true)\nend",
			wantErr: "line 2: a library function failed: runtime error: slice bounds out of range [9:3]",
		},
		{
			name: "empty random interval", source: `function evaluate() math.random(0) end`,
			wantErr: "line 1: bad argument #1 to random (the interval is empty or too large)",
		},
		{name: "registry", source: `function evaluate() return unpack({}, 1, 1e8) end`, wantErr: "line 1: registry overflow; too many values at once, as unpack or .. of a long list makes them: work on a part of the list at a time"},
		{name: "long rep", source: `function evaluate() return ("x"):rep(2^20+1) end`, wantErr: "line 1: string.rep would build more than 1 MiB"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := session(t, c.source).Evaluate(t.Context(), deployment(t, ""))
			if text(err) != c.wantErr {
				t.Fatalf("got  %v\nwant %s", err, c.wantErr)
			}
			if err != nil && !isScriptError(err) {
				t.Errorf("%T is no *ScriptError", err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMessagesAreBounded(t *testing.T) {
	cases := []struct{ name, lua, want string }{
		{"short", `"plain"`, "plain"},
		{"control characters", `"a\nb\t\27[31mc\0\127"`, "a b [31mc"},
		{"not UTF-8", `"a\255b"`, "a\uFFFDb"},
		{"long", `("x"):rep(5000)`, strings.Repeat("x", 1024)},
		{"cut between characters", `"x" .. ("é"):rep(1000)`, "x" + strings.Repeat("é", 511)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := message(t, `function evaluate() return {message=`+c.lua+`} end`)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestConversionReadsAsUpstream(t *testing.T) {
	o := deployment(t, `,"spec":{"replicas":3,"big":1700000000,"half":0.5,"float":3.0,"none":null,"yes":true,
		"ports":[80,443],"nested":[[1,2],["a"]],"empty":[],"map":{},"holes":[1,null,3]}`)
	cases := []struct{ lua, want string }{
		{`tostring(s.replicas)`, "3"},
		{`"" .. s.big`, "1700000000"},
		{`tostring(s.half)`, "0.5"},
		{`tostring(s.float)`, "3"},
		{`tostring(s.none)`, "nil"},
		{`tostring(s.yes)`, "true"},
		{`s.ports[2] .. "/" .. #s.ports`, "443/2"},
		{`s.nested[1][2] .. s.nested[2][1]`, "2a"},
		{`#s.empty .. tostring(next(s.map))`, "0nil"},
		{`join(ipairs, s.holes) .. #s.holes`, "1=1 2=32"},
		{`join(pairs, s.ports)`, "1=80 2=443"},
		{`join(ipairs, s.ports)`, "1=80 2=443"},
		{`join(pairs, obj.metadata)`, "name=web namespace=default resourceVersion=7 uid=u1"},
		{`obj.apiVersion .. " " .. obj.kind`, "apps/v1 Deployment"},
	}
	for _, c := range cases {
		s := session(t, `
			local function join(each, t)
				local words = {}
				for k, v in each(t) do table.insert(words, k .. "=" .. v) end
				return table.concat(words, " ")
			end
			function evaluate() local s = obj.spec return {message=`+c.lua+`} end`)
		got, err := s.Evaluate(t.Context(), o)
		if err != nil || got.Message != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.lua, got.Message, err, c.want)
		}
	}
}

func TestTimeout(t *testing.T) {
	cases := map[string]string{
		"loop":              `function evaluate() while true do end end`,
		"chunk":             `while true do end`,
		"tail recursion":    `function evaluate() return evaluate() end`,
		"growth":            `function evaluate() local t = {} while true do t[#t % 100 + 1] = {} end end`,
		"pcall loop":        `function evaluate() while true do pcall(function() while true do end end) end end`,
		"xpcall handler":    `function evaluate() xpcall(function() while true do end end, function() while true do end end) end`,
		"swallowed":         `function evaluate() return {matching=not pcall(function() while true do end end)} end`,
		"swallowed as tail": `function evaluate() return pcall(function() while true do end end) end`,
		"callback":          `function evaluate() ("x"):rep(9):gsub(".", function() while true do end end) end`,
		"comparison":        `function evaluate() table.sort({2, 1}, function() while true do end end) end`,
		"metamethod":        `function evaluate() return tostring(setmetatable({}, {__tostring=function() while true do end end})) end`,
	}
	for name, source := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sessionWith(t, source, Options{ObjectTimeout: 250 * time.Millisecond})
			_, err := s.Evaluate(t.Context(), deployment(t, ""))
			want := "evaluate took longer than 250ms and was stopped in line 1: look for an endless loop, or do less work in the script"
			if text(err) != want {
				t.Errorf("got %v, want %s", err, want)
			}
			var timeout *TimeoutError
			if !errors.As(err, &timeout) {
				t.Errorf("%T is no *TimeoutError", err)
			}
		})
	}
}

func TestDefaultLimits(t *testing.T) {
	got := sessionWith(t, "", Options{}).options
	if got.ObjectTimeout != 2*time.Second || got.AggregateTimeout != time.Minute {
		t.Errorf("object %s, aggregate %s", got.ObjectTimeout, got.AggregateTimeout)
	}
}

func TestSessionGoesOnAfterFaults(t *testing.T) {
	s := sessionWith(t, `function evaluate()
		if obj.spec.mode == "loop" then while true do end end
		if obj.spec.mode == "panic" then string.find("abc", "x", 10, true) end
		if obj.spec.mode == "error" then error("x") end
		return {matching=true} end`, Options{ObjectTimeout: 200 * time.Millisecond})
	for _, mode := range []string{"loop", "panic", "error"} {
		if _, err := s.Evaluate(t.Context(), deployment(t, `,"spec":{"mode":"`+mode+`"}`)); err == nil {
			t.Errorf("%s: no error", mode)
		}
		if s.box != nil {
			t.Errorf("%s: the interpreter was kept", mode)
		}
		got, err := s.Evaluate(t.Context(), deployment(t, `,"spec":{}`))
		if err != nil || !got.Matching {
			t.Errorf("after %s: got %v, %v", mode, got, err)
		}
	}
}

func TestCanceledAndClosed(t *testing.T) {
	s := session(t, `function evaluate() while true do end end`)
	cause := errors.New("the run ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := s.Evaluate(ctx, deployment(t, "")); !errors.Is(err, cause) {
		t.Errorf("canceled before: %v", err)
	}
	ctx, cancelLater := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, cause)
	defer cancelLater()
	if _, err := s.Evaluate(ctx, deployment(t, "")); !errors.Is(err, cause) {
		t.Errorf("canceled within: %v", err)
	}
	s.Close()
	s.Close()
	if _, err := s.Evaluate(t.Context(), deployment(t, "")); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
