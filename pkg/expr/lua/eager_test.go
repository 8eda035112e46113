// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"encoding/json"
	"maps"
	"slices"

	gopher "github.com/yuin/gopher-lua"
)

// The eager engine converts whole objects to plain tables before a script runs, fills the tables of the libraries for each
// object, and wraps nothing. It is slow and simple: what the lazy one must agree with.

type eagerSandbox struct {
	state         *gopher.LState
	base          []entry
	libraries     []*eagerLibrary
	stringMethods *gopher.LTable
}

func newEagerSandbox(own functions) *eagerSandbox {
	state := gopher.NewState(gopher.Options{
		SkipOpenLibs: true, CallStackSize: callFrames,
		RegistrySize: registrySize, RegistryMaxSize: registryMaxSize, RegistryGrowStep: registryGrowStep,
	})
	for _, open := range []gopher.LGFunction{gopher.OpenBase, gopher.OpenString, gopher.OpenTable, gopher.OpenMath} {
		state.Push(state.NewFunction(open))
		state.Call(0, 0)
	}
	all := state.G.Global
	stock := func(name string) *gopher.LTable {
		table, _ := all.RawGetString(name).(*gopher.LTable)
		return table
	}
	box := &eagerSandbox{
		state: state,
		base:  pick(state, all, baseNames, own.base),
		libraries: []*eagerLibrary{
			{name: "string", entries: pick(state, stock("string"), stringNames, own.string)},
			{name: "table", entries: pick(state, stock("table"), tableNames, nil)},
			{name: "math", entries: pick(state, stock("math"), mathNames, own.math)},
			{name: "os", entries: pick(state, nil, nil, own.os)},
		},
		stringMethods: state.NewTable(),
	}
	box.stringMethods.RawSetString("__metatable", gopher.LFalse)
	state.SetMetatable(gopher.LString(""), box.stringMethods)
	return box
}

// eagerLibrary is one of the tables that hold functions. Making it costs as much as evaluating an object, so it serves one
// object after the other until a script changes it.
type eagerLibrary struct {
	name    string
	entries []entry
	table   *gopher.LTable
}

// refresh replaces the table when a script changed it in any way.
func (l *eagerLibrary) refresh(state *gopher.LState) {
	if l.pristine() {
		return
	}
	l.table = state.CreateTable(0, len(l.entries))
	for _, e := range l.entries {
		l.table.RawSetString(e.name, e.value)
	}
}

func (l *eagerLibrary) pristine() bool {
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

// environment makes the globals of one object.
func (b *eagerSandbox) environment() *gopher.LTable {
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

// call runs the chunk and then the function. The order matters: the chunk does not see the object.
func (b *eagerSandbox) call(program *Program, c call) (gopher.LValue, error) {
	env := b.environment()
	chunk := b.state.NewFunctionFromProto(program.proto)
	chunk.Env = env
	if _, err := b.protected(chunk); err != nil {
		return nil, err
	}
	env.RawSetString(c.global, c.argument)
	function, ok := env.RawGetString(c.function).(*gopher.LFunction)
	if !ok {
		return nil, faultf("the script has no global function %s; write: %s", c.function, c.example)
	}
	return b.protected(function, c.argument)
}

func (b *eagerSandbox) protected(function *gopher.LFunction, arguments ...gopher.LValue) (gopher.LValue, error) {
	if err := b.state.CallByParam(gopher.P{Fn: function, NRet: 1, Protect: true}, arguments...); err != nil {
		return nil, scriptError(err)
	}
	result := b.state.Get(-1)
	b.state.Pop(1)
	return result, nil
}

// eagerImporter makes Lua values of JSON values.
type eagerImporter struct {
	state *gopher.LState
	// sources remembers which JSON value each table was made of. Nil remembers nothing.
	sources map[*gopher.LTable]any
	// nodes and depth are the size of what was imported.
	nodes, depth int
}

func (in *eagerImporter) value(value any, depth int) gopher.LValue {
	in.nodes++
	in.depth = max(in.depth, depth)
	switch value := value.(type) {
	case map[string]any:
		return in.object(value, depth)
	case []any:
		return in.list(value, depth)
	}
	return eagerScalar(value)
}

// object leaves out nulls: for scripts they are like absent fields. Keys are sorted, so that pairs has one order.
func (in *eagerImporter) object(value map[string]any, depth int) *gopher.LTable {
	table := in.state.CreateTable(0, len(value))
	for _, key := range slices.Sorted(maps.Keys(value)) {
		if value[key] != nil {
			table.RawSetString(key, in.value(value[key], depth+1))
		}
	}
	in.remember(table, value)
	return table
}

// list keeps the place of nulls for transform, so that the elements behind them keep their index. Else it drops them.
func (in *eagerImporter) list(value []any, depth int) *gopher.LTable {
	if in.sources == nil {
		value = slices.DeleteFunc(slices.Clone(value), func(element any) bool { return element == nil })
	}
	table := in.state.CreateTable(len(value), 0)
	for i, element := range value {
		table.RawSetInt(i+1, in.value(element, depth+1))
	}
	in.remember(table, value)
	return table
}

func (in *eagerImporter) remember(table *gopher.LTable, value any) {
	if in.sources != nil {
		in.sources[table] = value
	}
}

// eagerScalar converts what is neither a map nor a list. Numbers are doubles in Lua, which prints whole ones without ".0"; a
// number out of range is infinite there, and its text survives in the source.
func eagerScalar(value any) gopher.LValue {
	switch value := value.(type) {
	case string:
		return gopher.LString(value)
	case bool:
		return gopher.LBool(value)
	case json.Number:
		number, _ := value.Float64()
		return gopher.LNumber(number)
	}
	return gopher.LNil
}
