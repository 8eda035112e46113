// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	gopher "github.com/yuin/gopher-lua"
	utilclock "k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Scripts were written for gopher-lua's own libraries, and rely on what those refuse: an object whose expiry date cannot be
// read is kept because os.difftime raises an error. So each function of the sandbox is compared with the one that the
// interpreter brings.

// TestMain sets the time zone of the interpreter's own os.time and os.date, which know no other than the local one.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// libraryCall calls a function of a library with arguments, which are expressions. As a method, the first is the receiver.
type libraryCall struct {
	function  string
	arguments []string
	method    bool
}

func (c libraryCall) String() string {
	if c.method {
		_, name, _ := strings.Cut(c.function, ".")
		return fmt.Sprintf("(%s):%s(%s)", c.arguments[0], name, strings.Join(c.arguments[1:], ", "))
	}
	return fmt.Sprintf("%s(%s)", c.function, strings.Join(c.arguments, ", "))
}

// source notes what the call returns or raises, and what became of its arguments.
func (c libraryCall) source() string {
	var text strings.Builder
	text.WriteString("function evaluate()\n")
	variables := make([]string, len(c.arguments))
	for i, argument := range c.arguments {
		variables[i] = fmt.Sprintf("a%d", i+1)
		fmt.Fprintf(&text, "local %s = %s\n", variables[i], argument)
	}
	with := libraryCall{c.function, variables, c.method}
	fmt.Fprintf(&text, "local ok, fault = pcall(function() note('values', %s) end)\n", with)
	text.WriteString("if not ok then note('error', fault) end\n")
	fmt.Fprintf(&text, "note(%s)\nreturn {} end", strings.Join(append([]string{"'arguments'"}, variables...), ", "))
	return text.String()
}

// callResult is what one engine made of a call.
type callResult struct{ Values, Err, Arguments string }

// noteTo returns the function note of an engine, which reads tables through plain.
func noteTo(result *callResult, plain func(gopher.LValue)) gopher.LGFunction {
	return func(state *gopher.LState) int {
		var words []string
		for i := 2; i <= state.GetTop(); i++ {
			words = append(words, shown(state.Get(i), plain, 3))
		}
		text := address.ReplaceAllString(strings.Join(words, ", "), "$1")
		switch state.Get(1).String() {
		case "values":
			result.Values = "(" + text + ")"
		case "error":
			result.Err = text
		default:
			result.Arguments = text
		}
		return 0
	}
}

func shown(value gopher.LValue, plain func(gopher.LValue), depth int) string {
	table, ok := value.(*gopher.LTable)
	switch {
	case !ok && (value.Type() == gopher.LTFunction || value.Type() == gopher.LTUserData):
		return value.Type().String()
	case !ok && len(value.String()) > 10_000:
		return fmt.Sprintf("%s of %d bytes", value.Type(), len(value.String()))
	case !ok:
		return fmt.Sprintf("%s %q", value.Type(), value.String())
	case depth == 0:
		return "table"
	}
	plain(table)
	var fields []string
	for k, v := table.Next(gopher.LNil); k != gopher.LNil; k, v = table.Next(k) {
		fields = append(fields, shown(k, plain, depth-1)+"="+shown(v, plain, depth-1))
	}
	slices.Sort(fields)
	if table.Metatable != gopher.LNil {
		fields = append(fields, "metatable="+shown(table.Metatable, plain, depth-1))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

const differentialObject = `{"metadata":{"namespace":"default","name":"web","uid":"u1","resourceVersion":"7","labels":{"a":"x"}},` +
	`"spec":{"list":["b","a",{"k":"v"}],"texts":["b","a","c"],"map":{"year":2026,"month":"03","day":1,"b":null},"empty":{}}}`

// bothEngines are the sandbox, and the interpreter as it comes, with its own libraries and plain tables.
type bothEngines struct {
	session *Session
	stock   *gopher.LState
	target  object.Object
	// got is what the sandbox makes of a call, want what the interpreter's own library does.
	got, want callResult
}

func newBothEngines(t testing.TB) *bothEngines {
	t.Helper()
	e := &bothEngines{target: newObject(t, kind("apps", "v1", "Deployment"), differentialObject)}
	e.session = (&Program{}).NewSession(Options{Now: now, Clock: utilclock.RealClock{}, ObjectTimeout: time.Minute})
	own := e.session.functions()
	own.base["note"] = noteTo(&e.got, func(value gopher.LValue) { e.session.box.plain(value) })
	e.session.box = newSandbox(own)
	e.stock = gopher.NewState(gopher.Options{
		CallStackSize: callFrames, RegistrySize: registrySize, RegistryMaxSize: registryMaxSize, RegistryGrowStep: registryGrowStep,
	})
	e.stock.SetGlobal("note", e.stock.NewFunction(noteTo(&e.want, func(gopher.LValue) {})))
	return e
}

func (e *bothEngines) close() {
	e.session.Close()
	e.stock.Close()
}

func (e *bothEngines) run(t testing.TB, c libraryCall) {
	t.Helper()
	program, err := Compile(c.source())
	if err != nil {
		t.Fatalf("%v in\n%s", err, c.source())
	}
	e.got, e.want = callResult{}, callResult{}
	e.session.program = program
	if _, err := e.session.Evaluate(t.Context(), e.target); err != nil {
		t.Fatalf("%s: %v", c, err)
	}
	value, err := e.target.Value()
	if err != nil {
		t.Fatal(err)
	}
	e.stock.SetGlobal("obj", (&eagerImporter{state: e.stock}).value(value, 1))
	call := func(function gopher.LValue) {
		if err := e.stock.CallByParam(gopher.P{Fn: function, Protect: true}); err != nil {
			t.Fatalf("%s: %v", c, err)
		}
	}
	call(e.stock.NewFunctionFromProto(program.proto))
	call(e.stock.GetGlobal("evaluate"))
}

// compare fails where a call differs and should not. It returns the reason where it may.
func (e *bothEngines) compare(t testing.TB, c libraryCall) string {
	t.Helper()
	e.run(t, c)
	diff := cmp.Diff(e.want, e.got)
	if diff == "" {
		return ""
	}
	for reason, isMeant := range deliberate {
		if isMeant(c, e.got, e.want) {
			return reason
		}
	}
	t.Errorf("%s: the interpreter's own library (-) and the sandbox (+) differ:\n%s", c, diff)
	return ""
}

func TestLibraryDiffersNowhereElse(t *testing.T) {
	quiet(t)
	met := make(map[string]bool)
	for _, function := range slices.Sorted(maps.Keys(correct)) {
		t.Run(function, func(t *testing.T) {
			e := newBothEngines(t)
			defer func() { e.close() }()
			for _, c := range callsOf(function) {
				met[e.compare(t, c)] = true
				if function == "setmetatable" {
					// The interpreter's own may have changed all numbers, or all texts.
					e.close()
					e = newBothEngines(t)
				}
			}
		})
	}
	for reason := range deliberate {
		if !met[reason] {
			t.Errorf("no call differs because %s: take it off the list", reason)
		}
	}
}

// quiet drops what the interpreter's own print writes.
func quiet(t testing.TB) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = null
	t.Cleanup(func() {
		os.Stdout = stdout
		_ = null.Close()
	})
}

// TestEachFunctionIsCompared looks for functions that the table of calls lacks, and for constants that differ.
func TestEachFunctionIsCompared(t *testing.T) {
	box := newSandbox(session(t, "").functions())
	defer box.close()
	state := gopher.NewState()
	defer state.Close()
	compare := func(name string, value, want gopher.LValue) {
		if value.Type() == gopher.LTFunction {
			if _, ok := correct[name]; !ok {
				t.Errorf("the table of calls lacks %s", name)
			}
			return
		}
		if value != want {
			t.Errorf("%s is %v, and %v in the interpreter's own library", name, value, want)
		}
	}
	for _, e := range slices.Concat(baseNames, []string{"print", "setmetatable"}) {
		compare(e, box.globals.shared.RawGetString(e), state.GetGlobal(e))
	}
	for _, o := range box.overlays {
		o.shared.ForEach(func(key, value gopher.LValue) {
			compare(o.name+"."+key.String(), value, state.GetField(state.GetGlobal(o.name), key.String()))
		})
	}
}
