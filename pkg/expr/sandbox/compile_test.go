// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
)

func TestTransform(t *testing.T) {
	s := open(t, newPool(t, Config{}), short)
	cases := []struct{ body, patch, message, err string }{
		{`obj.data.k = "w" return {resource=obj, message="set"}`, `{"data":{"k":"w"}}`, "set", ""},
		{`obj.data.n = 12 obj.data.k = nil return {resource=obj}`, `{"data":{"k":null,"n":12}}`, "", ""},
		{`return {resource=obj}`, "null", "", ""},
		{`return nil`, "null", "", ""},
		{`obj.metadata.name = "other" return {resource=obj}`, "null", "", "transform changed metadata.name; identity must stay as it was"},
		{`error("no")`, "null", "", "line 1: no"},
		{`while true do end`, "null", "", "transform took longer than 200ms and was stopped in line 1: look for an endless loop, or do less work in the script"},
	}
	for _, c := range cases {
		patch, message, err := s.Transform(t.Context(), "function transform() "+c.body+" end", configMap(t, "a", "v"))
		raw, _ := json.Marshal(json.RawMessage(patch))
		text := ""
		if err != nil {
			text = err.Error()
		}
		if diff := cmp.Diff([]string{c.patch, c.message, c.err}, []string{string(raw), message, text}); diff != "" {
			t.Errorf("%s:\n%s", c.body, diff)
		}
	}
}

func TestTransformUsesUpItsMemory(t *testing.T) {
	s := open(t, newPool(t, Config{MaxMemory: 64 << 20}), Options{ObjectTimeout: 30e9})
	_, _, err := s.Transform(t.Context(), `function transform() local t = {} for i = 1, 1e9 do t[i] = {i} end end`, configMap(t, "a", "v"))
	if budgetKind(err) != BudgetMemory || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("got %v", err)
	}
	patch, _, err := s.Transform(t.Context(), `function transform() obj.data.k = "w" return {resource=obj} end`, configMap(t, "a", "v"))
	if err != nil || patch == nil {
		t.Errorf("afterwards: %v, %v", patch, err)
	}
}

func TestCompile(t *testing.T) {
	p := newPool(t, Config{})
	scripts := []Script{
		{Function: "evaluate", Source: "function evaluate() return {} end"},
		{Function: "evaluate", Source: "function evaluate( return {} end"},
		{Function: "evaluate", Source: "evaluate = function() return {} end"},
		{Function: "evaluate", Source: "if true then _G['evaluate'] = function() return {} end end"},
		{Function: "evaluate", Source: "function f() function evaluate() end end f()"},
		{Function: "evaluate", Source: "function evalute() return {} end -- evaluate"},
		{Function: "evaluate", Source: "local function evaluate() return {} end"},
		{Function: "transform", Source: "function evaluate() return {} end"},
		{Function: "evaluate", Source: strings.Repeat("x = 1\n", 20000)},
		{Function: "", Source: "x = 1"},
	}
	problems, err := p.Compile(t.Context(), scripts)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"", "line 1, column 20: syntax error near 'return': function evaluate( return {} end", "", "", "",
		"the script has no global function evaluate; write: function evaluate() ... end",
		"the script has no global function evaluate; write: function evaluate() ... end",
		"the script has no global function transform; write: function transform() ... end",
		"the script is 120000 bytes long, the limit is 65536: remove what it does not need", "",
	}
	var got []string
	for _, problem := range problems {
		text := ""
		if problem != nil {
			text = problem.Error()
		}
		got = append(got, text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var syntax *lua.SyntaxError
	if !errors.As(problems[1], &syntax) {
		t.Errorf("got a %T", problems[1])
	}
	first := (<-p.compiler.free)
	p.compiler.free <- first
	child := first.process
	if _, err := p.Compile(t.Context(), []Script{{Source: "x = 2"}}); err != nil || first.process != child {
		t.Errorf("the child was not kept: %v", err)
	}
	<-p.compiler.free // what is known needs no child
	over, cancel := context.WithCancel(t.Context())
	cancel()
	again, err := p.Compile(over, scripts)
	if diff := cmp.Diff(fmt.Sprint(problems), fmt.Sprint(again)); diff != "" || err != nil {
		t.Errorf("the second time: %v %s", err, diff)
	}
	p.compiler.free <- first
}

// TestCompilerEndsWhenIdle: the child has 10 MB, and most of the time nothing is edited.
func TestCompilerEndsWhenIdle(t *testing.T) {
	p := newPool(t, Config{})
	for i := range 2 { // the second child ends as well
		if _, err := p.Compile(t.Context(), []Script{{Source: fmt.Sprint("x = ", i)}}); err != nil {
			t.Fatal(err)
		}
		p.compilerIdle.Reset(0) // as if the time had passed
		for there := true; there; {
			w := <-p.compiler.free
			there = w.process != nil
			p.compiler.free <- w
		}
	}
	p.Close()
	if _, err := p.Compile(t.Context(), []Script{{Source: "x = 3"}}); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
	if p.compilerIdle.Stop() {
		t.Error("a closed pool has a timer left")
	}
}

func BenchmarkCompile(b *testing.B) {
	p := newPool(b, Config{})
	source := "function evaluate()\n" + strings.Repeat("  if obj.spec.replicas == 0 then return {matching=true} end\n", 20) + "end"
	for i := 0; b.Loop(); i++ { // a script that is known would not be compiled
		if problems, err := p.Compile(b.Context(), []Script{{Function: "evaluate", Source: fmt.Sprint(source, " -- ", i)}}); err != nil || problems[0] != nil {
			b.Fatal(err, problems)
		}
	}
}

// TestReadsMetadataOnlyIsAskedOnce: each Scan asks, and must not wait for the compiler each time.
func TestReadsMetadataOnlyIsAskedOnce(t *testing.T) {
	p := newPool(t, Config{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for source, want := range map[string]bool{
		`function evaluate() return {matching = obj.metadata.name == "a"} end`: true,
		`function evaluate() return {matching = obj.spec ~= nil} end`:          false,
	} {
		if _, err := p.ReadsMetadataOnly(ended, source); !errors.Is(err, context.Canceled) {
			t.Errorf("what could not be asked was answered: %v", err)
		}
		for _, ctx := range []context.Context{t.Context(), ended} {
			if only, err := p.ReadsMetadataOnly(ctx, source); err != nil || only != want {
				t.Errorf("%s: got %v, %v; want %v", source, only, err, want)
			}
		}
	}
}
