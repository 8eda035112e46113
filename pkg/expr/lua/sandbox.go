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
		"select", "tonumber", "tostring", "unpack", "xpcall",
	}
	stringNames = []string{
		"byte", "char", "find", "format", "gfind", "gmatch", "gsub", "len", "lower", "match", "reverse", "sub", "upper",
	}
	tableNames = []string{"concat", "getn", "insert", "maxn", "remove", "sort"}
	mathNames  = []string{
		"abs",
		"acos",
		"asin",
		"atan",
		"atan2",
		"ceil",
		"cos",
		"cosh",
		"deg",
		"exp",
		"floor",
		"fmod",
		"frexp",
		"huge",
		"ldexp",
		"log",
		"log10",
		"max",
		"min",
		"mod",
		"modf",
		"pi",
		"pow",
		"rad",
		"sin",
		"sinh",
		"sqrt",
		"tan",
		"tanh",
	}
)

// Contain lowers the limits of the interpreter that the whole process shares. A process that runs scripts of others
// calls it once, before the first Session: afterwards t[67108862]=1 puts one entry into a hash instead of allocating 1
// GiB for a list. The largest list that grows by t[#t+1] has 4 Mi elements, which is 64 MiB.
func Contain() {
	gopher.MaxArrayIndex = 1 << 22
}

type entry struct {
	name  string
	value gopher.LValue
}

// sandbox is an interpreter and what scripts may use of it. A script may overwrite string.rep, but only for its current
// object.
type sandbox struct {
	state    *gopher.LState
	overlays []*overlay
	globals  globals
	// stringMethods is the metatable of strings, which scripts cannot reach.
	stringMethods *gopher.LTable

	// lazyMeta is the metatable by which lazy tables are known.
	lazyMeta *gopher.LTable
	// calls numbers the calls. Lazy tables of an earlier one are dead.
	calls uint32
	// forced are the tables of the current call that were lazy once: the roots, and when transforming all. Nil keeps none.
	forced       map[*gopher.LTable]*lazy
	transforming bool
	// partly watches the current call, if its object is a part of one.
	partly *partly
	// spans is where levels are read to, and fields where those of a table are sorted.
	spans  []span
	fields []field
	// names are those of fields that pairs has come to.
	names map[string]gopher.LValue
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
	stock := func(name string) *gopher.LTable {
		table, _ := all.RawGetString(name).(*gopher.LTable)
		return table
	}
	box := &sandbox{state: state, stringMethods: state.NewTable()}
	library := func(name string, names []string, own map[string]gopher.LGFunction) {
		entries := pick(state, stock(name), names, own)
		box.overlays = append(box.overlays, newOverlay(state, name, entries, box.setLibrary))
	}
	library("string", stringNames, own.string)
	library("table", tableNames, nil)
	library("math", mathNames, own.math)
	library("os", nil, own.os)
	box.newGlobals(pick(state, all, baseNames, own.base))
	box.newLazyMeta()
	box.wrapLibraries()
	box.stringMethods.RawSetString("__metatable", gopher.LFalse)
	state.SetMetatable(gopher.LString(""), box.stringMethods)
	return box
}

// pick takes functions from the interpreter's own by name, and adds ours.
func pick(state *gopher.LState, from *gopher.LTable, names []string, own map[string]gopher.LGFunction) []entry {
	var entries []entry
	for _, name := range names {
		entries = append(entries, entry{name, from.RawGetString(name)})
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		entries = append(entries, entry{name, state.NewFunction(own[name])})
	}
	return entries
}

// begin makes the interpreter ready for a call: the lazy tables of the one before are dead.
func (b *sandbox) begin() {
	b.calls++
	b.forced, b.transforming, b.partly = nil, false, nil
}

func (b *sandbox) close() { b.state.Close() }
