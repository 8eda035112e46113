// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"maps"
	"slices"

	gopher "github.com/yuin/gopher-lua"
)

const (
	callFrames      = 200
	registrySize    = 256 * 20
	registryMaxSize = 1 << 20
	// Each step copies all, so that a small one makes growth quadratic: filling the registry by 8,192 takes a second.
	registryGrowStep = 1 << 16
)

// The allow-list. What is not named here does not exist for scripts.
var (
	baseNames = []string{
		"_VERSION", "assert", "error", "getmetatable", "ipairs", "next", "pairs", "pcall", "rawequal", "rawget", "rawset",
		"select", "tonumber", "tostring", "type", "unpack", "xpcall",
	}
	stringNames = []string{
		"byte", "char", "find", "format", "gfind", "gmatch", "gsub", "len", "lower", "match", "reverse", "sub", "upper",
	}
	tableNames = []string{"concat", "getn", "insert", "maxn", "remove", "sort"}
	mathNames  = []string{
		"abs", "acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "deg", "exp", "floor", "fmod", "frexp", "huge", "ldexp",
		"log", "log10", "max", "min", "mod", "modf", "pi", "pow", "rad", "sin", "sinh", "sqrt", "tan", "tanh",
	}
)

type entry struct {
	name  string
	value gopher.LValue
}

// library is one of the tables that hold functions. Making it costs as much as evaluating an object, so it serves one
// object after the other until a script changes it.
type library struct {
	name    string
	entries []entry
	table   *gopher.LTable
}

// refresh replaces the table when a script changed it in any way.
func (l *library) refresh(state *gopher.LState) {
	if l.pristine() {
		return
	}
	l.table = state.CreateTable(0, len(l.entries))
	for _, e := range l.entries {
		l.table.RawSetString(e.name, e.value)
	}
}

func (l *library) pristine() bool {
	if l.table == nil || l.table.Metatable != gopher.LNil {
		return false
	}
	for _, e := range l.entries {
		if l.table.RawGetString(e.name) != e.value {
			return false
		}
	}
	count := 0
	l.table.ForEach(func(gopher.LValue, gopher.LValue) { count++ })
	return count == len(l.entries)
}

// sandbox is an interpreter and the functions that scripts may use. A script may overwrite string.rep, but only for its
// current object.
type sandbox struct {
	state     *gopher.LState
	base      []entry
	libraries []*library
	// stringMethods is the metatable of strings, which scripts cannot reach.
	stringMethods *gopher.LTable
}

func newSandbox(own functions) *sandbox {
	state := gopher.NewState(gopher.Options{
		SkipOpenLibs: true, CallStackSize: callFrames,
		RegistrySize: registrySize, RegistryMaxSize: registryMaxSize, RegistryGrowStep: registryGrowStep,
	})
	for _, open := range []gopher.LGFunction{gopher.OpenBase, gopher.OpenString, gopher.OpenTable, gopher.OpenMath} {
		state.Push(state.NewFunction(open))
		state.Call(0, 0)
	}
	all := state.G.Global
	pick := func(from *gopher.LTable, names []string, own map[string]gopher.LGFunction) []entry {
		var entries []entry
		for _, name := range names {
			entries = append(entries, entry{name, from.RawGetString(name)})
		}
		for _, name := range slices.Sorted(maps.Keys(own)) {
			entries = append(entries, entry{name, state.NewFunction(own[name])})
		}
		return entries
	}
	stock := func(name string) *gopher.LTable {
		table, _ := all.RawGetString(name).(*gopher.LTable)
		return table
	}
	box := &sandbox{
		state: state,
		base:  pick(all, baseNames, own.base),
		libraries: []*library{
			{name: "string", entries: pick(stock("string"), stringNames, own.string)},
			{name: "table", entries: pick(stock("table"), tableNames, nil)},
			{name: "math", entries: pick(stock("math"), mathNames, own.math)},
			{name: "os", entries: pick(nil, nil, own.os)},
		},
		stringMethods: state.NewTable(),
	}
	box.stringMethods.RawSetString("__metatable", gopher.LFalse)
	state.SetMetatable(gopher.LString(""), box.stringMethods)
	return box
}

// environment makes the globals of one object.
func (b *sandbox) environment() *gopher.LTable {
	env := b.state.CreateTable(0, len(b.base)+16)
	for _, e := range b.base {
		env.RawSetString(e.name, e.value)
	}
	for _, l := range b.libraries {
		l.refresh(b.state)
		env.RawSetString(l.name, l.table)
		if l.name == "string" {
			// Scripts that add a function to string may call it as a method, as they can with a plain interpreter.
			b.stringMethods.RawSetString("__index", l.table)
		}
	}
	env.RawSetString("_G", env)
	for _, name := range []string{"metrics", "events", "logsByContainer", "logsPreviousByContainer"} {
		env.RawSetString(name, b.state.CreateTable(0, 0))
	}
	env.RawSetString("logs", gopher.LString(""))
	env.RawSetString("logsPrevious", gopher.LString(""))
	return env
}

func (b *sandbox) close() { b.state.Close() }
