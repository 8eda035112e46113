// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// line is one object's judgement, as text.
func line(j Judged) string {
	switch {
	case j.Err != nil:
		return j.Object.Name + " " + fmt.Sprintf("%T", j.Err)
	case j.Matching:
		return j.Object.Name + " yes " + j.Message
	}
	return j.Object.Name + " no"
}

// judgeAll judges objects and returns a line for each.
func judgeAll(t testing.TB, s *Session, source string, objects ...object.Object) ([]string, error) {
	t.Helper()
	var lines []string
	stream := s.Stream(source, func(j Judged) error {
		lines = append(lines, line(j))
		return nil
	})
	for _, o := range objects {
		if err := stream.Add(t.Context(), o); err != nil {
			return lines, err
		}
	}
	return lines, stream.Finish(t.Context())
}

// behave is a script that does what the object's data say.
const behave = `
function evaluate()
	local k = obj.data.k
	if k == "yes" then return {matching=true, message=obj.metadata.name .. " is " .. k} end
	if k == "error" then error("it is bad") end
	if k == "shape" then return 3 end
	if k == "loop" then while true do end end
	if k == "native" then return {matching=string.find(string.rep("a", 1000000), string.rep("a?", 1000) .. "b.-c") ~= nil} end
	if k == "memory" then local t = {} for i = 1, 1e9 do t[i] = {i} end end
	if k == "instant" then local t = {} for i = 1, 3000 do t[i] = string.rep("x", 1000000 + i) end return {message=table.concat(t)} end
	if k == "more" then local t = {} for i = 1, 900000 do t[i] = {i} end return {matching=true, message="#" .. #t} end
	return {}
end`

func objectsOf(t testing.TB, values ...string) []object.Object {
	t.Helper()
	var objects []object.Object
	for i, value := range values {
		objects = append(objects, configMap(t, fmt.Sprintf("%s%d", value, i), value))
	}
	return objects
}

func TestStreamKeepsTheOrder(t *testing.T) {
	s := open(t, newPool(t, Config{}), Options{})
	var objects []object.Object
	var want []string
	for i := range 5000 {
		value := []string{"yes", "no", strings.Repeat("long", i%300), "error"}[i%4]
		o := configMap(t, fmt.Sprintf("o%d", i), value)
		objects = append(objects, o)
		want = append(want, o.Name+map[string]string{"yes": " yes " + o.Name + " is yes", "error": " *lua.ScriptError"}[value])
		if value != "yes" && value != "error" {
			want[i] += " no"
		}
	}
	got, err := judgeAll(t, s, behave, objects...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestVerdictsComeEarly lets a script take long for each object: the first verdict comes before the last object is judged.
func TestVerdictsComeEarly(t *testing.T) {
	s := open(t, newPool(t, Config{}), Options{AggregateTimeout: time.Minute, ObjectTimeout: time.Minute})
	enough := errors.New("enough")
	var got []string
	stream := s.Stream(`function evaluate() if obj.data.k == "last" then while true do end end local n = 0 for i = 1, 3e6 do n = n + i end return {matching=true} end`,
		func(j Judged) error {
			if got = append(got, j.Object.Name); len(got) == 3 {
				return enough
			}
			return nil
		})
	limit, stop := context.WithTimeout(t.Context(), 40*time.Second) // before the last one is out of time
	defer stop()
	for _, o := range objectsOf(t, "a", "b", "c", "d", "e", "f", "g", "last") {
		if err := stream.Add(limit, o); err != nil {
			t.Fatal(err)
		}
	}
	err := stream.Finish(limit)
	if diff := cmp.Diff([]string{"a0", "b1", "c2"}, got); diff != "" || !errors.Is(err, enough) {
		t.Errorf("%s, %v", diff, err)
	}
}

// TestVerdicts puts one bad object between good ones. The others must be judged as if it was not there.
func TestVerdicts(t *testing.T) {
	cases := map[string]string{
		"error":  "line 5: it is bad",
		"shape":  `evaluate returned a number; return a table such as {matching=true, message="why"}`,
		"loop":   "evaluate took longer than 200ms and was stopped in line 7: look for an endless loop, or do less work in the script",
		"native": "took longer than 200ms, in a single step that could not be interrupted: look for a pattern that backtracks, or do less work in the script",
		"memory": "used more than 304 MiB of memory: look for a table or a text that grows without end, or keep less in the script",
	}
	for bad, want := range cases {
		t.Run(bad, func(t *testing.T) {
			t.Parallel()
			options := short
			if bad == "memory" {
				options = Options{ObjectTimeout: 30 * time.Second}
			}
			s := open(t, newPool(t, Config{}), options)
			var got []string
			var fault error
			stream := s.Stream(behave, func(j Judged) error {
				got = append(got, line(j))
				if j.Err != nil {
					fault = j.Err
				}
				return nil
			})
			begin := time.Now()
			for _, o := range objectsOf(t, "yes", "no", "yes", bad, "yes", "no") {
				if err := stream.Add(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			if err := stream.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took > time.Minute && bad != "memory" {
				t.Errorf("took %s", took)
			}
			if fault == nil || fault.Error() != want {
				t.Errorf("got error %v", fault)
			}
			lines := []string{
				"yes0 yes yes0 is yes", "no1 no", "yes2 yes yes2 is yes", bad + "3 " + fmt.Sprintf("%T", fault), "yes4 yes yes4 is yes", "no5 no",
			}
			if diff := cmp.Diff(lines, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSmallChildIsNotTheLimit judges an object that needs more than a child gets first, and is entitled to it.
func TestSmallChildIsNotTheLimit(t *testing.T) {
	s := open(t, newPool(t, Config{}), Options{ObjectTimeout: 30 * time.Second})
	got, err := judgeAll(t, s, behave, objectsOf(t, "yes", "more", "no", "more")...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"yes0 yes yes0 is yes", "more1 yes #900000", "no2 no", "more3 yes #900000"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestSuddenDeath ends the child without a word: the one that did it is found by judging one by one.
func TestSuddenDeath(t *testing.T) {
	s := open(t, newPool(t, Config{MaxMemory: 64 << 20}), Options{ObjectTimeout: 30 * time.Second})
	got, err := judgeAll(t, s, behave, objectsOf(t, "yes", "no", "instant", "yes", "instant", "no")...)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"yes0 yes yes0 is yes", "no1 no", "instant2 *sandbox.BudgetError", "yes3 yes yes3 is yes", "instant4 *sandbox.BudgetError", "no5 no"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestDeathIsNamed lets a child say itself at which object it ended: no other is judged twice.
func TestDeathIsNamed(t *testing.T) {
	for bad, kind := range map[string]BudgetKind{"native": BudgetTime, "memory": BudgetMemory} {
		seen := map[string]int{}
		options := Options{ObjectTimeout: 200 * time.Millisecond, Print: func(name string) { seen[name]++ }}
		if kind == BudgetMemory {
			options.ObjectTimeout = 30 * time.Second
		}
		s := open(t, newPool(t, Config{}), options)
		var errs []error
		stream := s.Stream(behave+`
			local judge = evaluate function evaluate() print(obj.metadata.name) return judge() end`, func(j Judged) error {
			errs = append(errs, j.Err)
			return nil
		})
		for _, o := range objectsOf(t, "yes", "no", bad, "yes", "no") {
			if err := stream.Add(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		if err := stream.Finish(t.Context()); err != nil || len(errs) != 5 || budgetKind(errs[2]) != kind {
			t.Fatalf("got %v, %v", errs, err)
		}
		want := map[string]int{"yes0": 1, "no1": 1, bad + "2": 1, "yes3": 1, "no4": 1}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("%s: %s", bad, diff)
		}
	}
}

func TestPatience(t *testing.T) {
	s := open(t, newPool(t, Config{}), short)
	got, err := judgeAll(t, s, behave, objectsOf(t, "loop", "native", "yes", "loop", "native", "loop", "yes", "no")...)
	if len(got) != 6 || budgetKind(err) != BudgetPatience {
		t.Fatalf("got %v and the error %v", got, err)
	}
	want := "5 objects used up their time or memory, so no more were judged; the last one: ConfigMap default/loop5: evaluate took longer than 200ms"
	if !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Evaluate(t.Context(), behave, configMap(t, "a", "yes")); budgetKind(err) != BudgetPatience {
		t.Errorf("Evaluate: %v", err)
	}
	if _, _, err := s.Transform(t.Context(), behave, configMap(t, "a", "yes")); budgetKind(err) != BudgetPatience {
		t.Errorf("Transform: %v", err)
	}
}

func TestScriptsThatDoNotCompile(t *testing.T) {
	s := open(t, newPool(t, Config{}), Options{})
	_, err := judgeAll(t, s, "function evaluate(\n  x y", configMap(t, "a", ""))
	var syntax *lua.SyntaxError
	if !errors.As(err, &syntax) || syntax.Line != 2 || syntax.Column != 5 || syntax.Text != "x y" {
		t.Errorf("got %#v", err)
	}
	if got, err := judgeAll(t, s, behave, objectsOf(t, "yes")...); err != nil || len(got) != 1 {
		t.Errorf("another script: %v, %v", got, err)
	}
}

func TestErrorOfEachEndsTheStream(t *testing.T) {
	s := open(t, newPool(t, Config{}), Options{})
	stop := errors.New("enough")
	calls := 0
	stream := s.Stream(behave, func(Judged) error {
		calls++
		if calls == 3 {
			return stop
		}
		return nil
	})
	for _, o := range objectsOf(t, "yes", "yes", "yes", "yes") {
		if err := stream.Add(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := stream.Finish(t.Context()); !errors.Is(err, stop) {
			t.Errorf("got %v", err)
		}
	}
	if err := stream.Add(t.Context(), configMap(t, "a", "")); !errors.Is(err, stop) || calls != 3 {
		t.Errorf("got %v after %d calls", err, calls)
	}
}

func TestCancel(t *testing.T) {
	s := open(t, newPool(t, Config{}), Options{ObjectTimeout: time.Minute})
	stop := errors.New("the run was stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	stream := s.Stream(`print("begun") `+behave, func(Judged) error { return nil })
	begun := make(chan struct{})
	s.options.Print = func(string) { close(begun) }
	if err := stream.Add(ctx, configMap(t, "a", "loop")); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, func() { cancel(stop) })
	begin := time.Now()
	if err := stream.Finish(ctx); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("took %s", took)
	}
	if match, err := s.Evaluate(t.Context(), behave, configMap(t, "b", "yes")); err != nil || !match.Matching {
		t.Errorf("afterwards: %v, %v", match, err)
	}
}

func TestClose(t *testing.T) {
	p := newPool(t, Config{})
	s := open(t, p, Options{ObjectTimeout: time.Minute})
	stream := s.Stream(behave, func(Judged) error { return nil })
	if err := stream.Add(t.Context(), configMap(t, "a", "loop")); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, p.Close)
	begin := time.Now()
	if err := stream.Finish(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("took %s", took)
	}
	p.Close()
	if _, err := open(t, p, Options{}).Evaluate(t.Context(), behave, configMap(t, "b", "")); !errors.Is(err, ErrClosed) {
		t.Errorf("a session of a closed pool: %v", err)
	}
	if _, err := p.Compile(t.Context(), []Script{{Source: "x=1"}}); !errors.Is(err, ErrClosed) {
		t.Errorf("compiling: %v", err)
	}
}

func TestManyAtOnce(t *testing.T) {
	p := newPool(t, Config{})
	var all sync.WaitGroup
	for range 8 {
		s := open(t, p, Options{})
		for range 2 {
			all.Go(func() {
				defer s.Close()
				for i := range 30 {
					match, err := s.Evaluate(t.Context(), behave, configMap(t, fmt.Sprintf("o%d", i), "yes"))
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil || match.Message != fmt.Sprintf("o%d is yes", i) {
						t.Errorf("got %v, %v", match, err)
					}
				}
			})
		}
	}
	all.Wait()
}

func TestPrint(t *testing.T) {
	var lines []string
	s := open(t, newPool(t, Config{}), Options{Print: func(line string) { lines = append(lines, line) }})
	source := `print("hello", obj) function evaluate() print(obj.metadata.name, ("x"):rep(500)) return {} end`
	var objects []object.Object
	for i := range 100 {
		objects = append(objects, configMap(t, fmt.Sprintf("o%d", i), ""))
	}
	for _, source := range []string{source, "-- another script\n" + source} {
		if _, err := judgeAll(t, s, source, objects...); err != nil {
			t.Fatal(err)
		}
	}
	if len(lines) != 64 || lines[0] != "hello nil" || !strings.HasPrefix(lines[63], "o31 xxx") || len(lines[63]) != 256 {
		t.Errorf("got %d lines: %q", len(lines), lines)
	}
}

func TestOptionsReachTheScript(t *testing.T) {
	p := newPool(t, Config{})
	source := `function evaluate() return {message=os.date("!%Y-%m-%d", os.time()) .. " " .. math.random(1e9)} end`
	said := func(seed int64, name string) string {
		match, err := open(t, p, Options{Seed: seed}).Evaluate(t.Context(), source, configMap(t, name, ""))
		if err != nil {
			t.Fatal(err)
		}
		return match.Message
	}
	first := said(1, "a")
	if !strings.HasPrefix(first, "2026-03-01 ") {
		t.Errorf("got %s", first)
	}
	if said(1, "a") != first || said(2, "a") == first || said(1, "b") == first {
		t.Error("random numbers must depend on the seed and the object only")
	}
}
