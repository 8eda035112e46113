// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import gopher "github.com/yuin/gopher-lua"

// newLazyMeta makes the metatable of lazy tables. Unlike Lua 5.1, this interpreter asks __len for tables too.
func (b *sandbox) newLazyMeta() {
	b.lazyMeta = b.state.CreateTable(0, 3)
	for name, function := range map[string]gopher.LGFunction{
		"__index": b.index, "__newindex": b.newIndex,
		"__len": b.len,
	} {
		b.lazyMeta.RawSetString(name, b.state.NewFunction(function))
	}
}

// argument returns the lazy table that a function was called with, or nil.
func (b *sandbox) argument(state *gopher.LState) *lazy {
	table, ok := state.Get(1).(*gopher.LTable)
	if !ok {
		return nil
	}
	return b.lazy(table)
}

func (b *sandbox) index(state *gopher.LState) int {
	value := gopher.LNil
	if l := b.argument(state); l != nil {
		value = b.get(l, state.Get(2))
	}
	state.Push(value)
	return 1
}

// newIndex writes to a table that was lazy: whatever is read later must see the write, and that what is gone is gone.
func (b *sandbox) newIndex(state *gopher.LState) int {
	table := state.CheckTable(1)
	b.plain(table)
	state.RawSet(table, state.Get(2), state.Get(3))
	return 0
}

func (b *sandbox) len(state *gopher.LState) int {
	length := 0
	if l := b.argument(state); l != nil {
		length = b.length(l)
	}
	state.Push(gopher.LNumber(length))
	return 1
}

// wrapLibraries teaches the functions that read tables without their metatables to know ours. They stay the same
// functions: their upvalues are kept. Only the first argument is made plain, and the second of setmetatable: of a
// metatable the interpreter reads the fields without asking anyone.
func (b *sandbox) wrapLibraries() {
	base, table := b.globals.shared, b.overlayOf("table").shared
	for _, name := range []string{"rawset", "unpack"} {
		wrap(base.RawGetString(name), b.plainFirst)
	}
	wrap(base.RawGetString("next"), b.nextField(1))
	for _, name := range []string{"concat", "getn", "insert", "maxn", "remove", "sort"} {
		wrap(table.RawGetString(name), b.plainFirst)
	}
	wrap(b.overlayOf("os").shared.RawGetString("time"), b.plainFirst)
	wrap(base.RawGetString("setmetatable"), func(inner gopher.LGFunction) gopher.LGFunction {
		return func(state *gopher.LState) int {
			b.plain(state.Get(1))
			b.plain(state.Get(2))
			return inner(state)
		}
	})
	wrap(base.RawGetString("getmetatable"), b.withoutOurs)
	wrap(base.RawGetString("rawget"), b.rawGet)
	// The iterators are upvalues, and scripts get them: local f, t = pairs({}).
	wrap(iterator(base.RawGetString("pairs")), b.nextField(0))
	wrap(iterator(base.RawGetString("ipairs")), b.nextElement)
}

func (b *sandbox) overlayOf(name string) *overlay {
	for _, o := range b.overlays {
		if o.name == name {
			return o
		}
	}
	return nil
}

func wrap(function gopher.LValue, wrapper func(gopher.LGFunction) gopher.LGFunction) {
	if f, ok := function.(*gopher.LFunction); ok {
		f.GFunction = wrapper(f.GFunction)
	}
}

func iterator(function gopher.LValue) gopher.LValue {
	f, ok := function.(*gopher.LFunction)
	if !ok || len(f.Upvalues) == 0 {
		return gopher.LNil
	}
	return f.Upvalues[0].Value()
}

func (b *sandbox) plainFirst(inner gopher.LGFunction) gopher.LGFunction {
	return func(state *gopher.LState) int {
		b.plain(state.Get(1))
		return inner(state)
	}
}

// withoutOurs is for getmetatable.
func (b *sandbox) withoutOurs(inner gopher.LGFunction) gopher.LGFunction {
	return func(state *gopher.LState) int {
		if table, ok := state.Get(1).(*gopher.LTable); ok && b.isOurs(table) {
			state.Push(gopher.LNil)
			return 1
		}
		return inner(state)
	}
}

func (b *sandbox) rawGet(inner gopher.LGFunction) gopher.LGFunction {
	return func(state *gopher.LState) int {
		if l := b.argument(state); l != nil {
			state.Push(b.get(l, state.CheckAny(2)))
			return 1
		}
		b.plain(state.Get(1))
		return inner(state)
	}
}

// nextElement is for the iterator of ipairs, which reads lists without making them plain.
func (b *sandbox) nextElement(inner gopher.LGFunction) gopher.LGFunction {
	return func(state *gopher.LState) int {
		l := b.argument(state)
		if l == nil {
			return inner(state)
		}
		next := state.CheckInt(2) + 1
		value := b.element(l, next)
		if value == gopher.LNil {
			return 0
		}
		state.Push(gopher.LNumber(next))
		state.Push(value)
		return 2
	}
}
