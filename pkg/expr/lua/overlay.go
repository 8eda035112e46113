// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"slices"

	gopher "github.com/yuin/gopher-lua"
)

// overlay is a library as scripts see it: an empty table through which they read a shared one. A script that writes to
// it or enumerates it gets a copy of its own, which makes it plain: the next object gets another overlay. Filling
// tables instead costs as much as evaluating an object.
type overlay struct {
	name string
	// shared holds the functions. No script gets hold of it.
	shared *gopher.LTable
	// meta recognises the overlay.
	meta  *gopher.LTable
	table *gopher.LTable
}

func newOverlay(state *gopher.LState, name string, entries []entry, write gopher.LGFunction) *overlay {
	o := &overlay{name: name, shared: state.CreateTable(0, len(entries)), meta: state.CreateTable(0, 2)}
	for _, e := range entries {
		o.shared.RawSetString(e.name, e.value)
	}
	o.meta.RawSetString("__index", o.shared)
	o.meta.RawSetString("__newindex", state.NewFunction(write))
	return o
}

// fresh gives the next object a table that no script has changed, and says whether it is another one.
func (o *overlay) fresh(state *gopher.LState) bool {
	if o.table != nil && o.table.Metatable == gopher.LValue(o.meta) {
		return false
	}
	o.table = state.CreateTable(0, 0)
	o.table.Metatable = o.meta
	return true
}

// dataGlobals are tables that each object has of its own, empty until something fills them.
var dataGlobals = [...]string{"metrics", "events", "logsByContainer", "logsPreviousByContainer"}

// globals are what the environments of all objects share. A script reads its own globals first, then those of shared,
// and then those that its call owns: own makes them when they are asked for.
type globals struct {
	shared, meta *gopher.LTable
	// order is that in which pairs(_G) shows what is not the script's own.
	order []string
	// env and data belong to the current call.
	env  *gopher.LTable
	data [len(dataGlobals)]gopher.LValue
}

func (b *sandbox) newGlobals(base []entry) {
	g := &b.globals
	g.shared = b.state.CreateTable(0, len(base)+8)
	set := func(name string, value gopher.LValue) {
		g.order = append(g.order, name)
		if value != nil {
			g.shared.RawSetString(name, value)
		}
	}
	for _, e := range base {
		set(e.name, e.value)
	}
	for _, o := range b.overlays {
		set(o.name, nil)
	}
	set("_G", nil)
	for _, name := range dataGlobals {
		set(name, nil)
	}
	set("logs", gopher.LString(""))
	set("logsPrevious", gopher.LString(""))
	owned := b.state.CreateTable(0, 1)
	owned.RawSetString("__index", b.state.NewFunction(func(state *gopher.LState) int {
		state.Push(b.owned(state.Get(2)))
		return 1
	}))
	g.shared.Metatable = owned
	g.meta = b.state.CreateTable(0, 2)
	g.meta.RawSetString("__index", g.shared)
	g.meta.RawSetString("__newindex", b.state.NewFunction(b.setGlobal))
}

// environment makes the globals of one object.
func (b *sandbox) environment() *gopher.LTable {
	for _, o := range b.overlays {
		if !o.fresh(b.state) {
			continue
		}
		b.globals.shared.RawSetString(o.name, o.table)
		if o.name == "string" {
			// Scripts that add a function to string may call it as a method, as they can with a plain interpreter.
			b.stringMethods.RawSetString("__index", o.table)
		}
	}
	b.globals.data = [len(dataGlobals)]gopher.LValue{}
	b.globals.env = b.state.CreateTable(0, 4)
	b.globals.env.Metatable = b.globals.meta
	return b.globals.env
}

// owned returns a global that is neither the script's nor shared.
func (b *sandbox) owned(key gopher.LValue) gopher.LValue {
	name, _ := key.(gopher.LString)
	if name == "_G" {
		return b.globals.env
	}
	i := slices.Index(dataGlobals[:], string(name))
	if i < 0 {
		return gopher.LNil
	}
	if b.globals.data[i] == nil {
		b.globals.data[i] = b.state.CreateTable(0, 0)
	}
	return b.globals.data[i]
}

// setGlobal sets a global that the script has not set yet. Where it hides one of ours the environment becomes plain,
// because setting it to nil later must not bring ours back.
func (b *sandbox) setGlobal(state *gopher.LState) int {
	env, key, value := state.CheckTable(1), state.Get(2), state.Get(3)
	if name, ok := key.(gopher.LString); ok && slices.Contains(b.globals.order, string(name)) {
		b.uncover(env)
	}
	state.RawSet(env, key, value)
	return 0
}

func (b *sandbox) setLibrary(state *gopher.LState) int {
	library := state.CheckTable(1)
	b.uncover(library)
	state.RawSet(library, state.Get(2), state.Get(3))
	return 0
}

// uncover makes a plain table of an overlay or an environment. Any other stays as it is.
func (b *sandbox) uncover(table *gopher.LTable) {
	if table.Metatable == gopher.LValue(b.globals.meta) {
		*table = *b.allGlobals(table)
		return
	}
	for _, o := range b.overlays {
		if table.Metatable == gopher.LValue(o.meta) {
			*table = *b.state.CreateTable(0, 32)
			copyEntries(table, o.shared)
			return
		}
	}
}

func (b *sandbox) allGlobals(env *gopher.LTable) *gopher.LTable {
	all := b.state.CreateTable(0, len(b.globals.order)+16)
	for _, name := range b.globals.order {
		value := b.globals.shared.RawGetString(name)
		if value == gopher.LNil {
			value = b.owned(gopher.LString(name))
		}
		all.RawSetString(name, value)
	}
	copyEntries(all, env)
	return all
}

func copyEntries(to, from *gopher.LTable) {
	for key, value := from.Next(gopher.LNil); key != gopher.LNil; key, value = from.Next(key) {
		to.RawSet(key, value)
	}
}

// isOurs says whether a table's metatable is one that no script may see.
func (b *sandbox) isOurs(table *gopher.LTable) bool {
	if table.Metatable == gopher.LNil {
		return false
	}
	return table.Metatable == gopher.LValue(b.lazyMeta) || table.Metatable == gopher.LValue(b.globals.meta) ||
		slices.ContainsFunc(b.overlays, func(o *overlay) bool { return table.Metatable == gopher.LValue(o.meta) })
}
