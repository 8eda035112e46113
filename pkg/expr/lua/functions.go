// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"math/rand/v2"
	"strings"

	gopher "github.com/yuin/gopher-lua"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// maxRepeat bounds what string.rep builds, in bytes.
	maxRepeat = 1 << 20
	// printLines and printLength bound what print passes on in one session.
	printLines, printLength = 64, 256
)

// functions are those that replace the interpreter's own, by library.
type functions struct {
	base, string, math, os map[string]gopher.LGFunction
}

func (s *Session) functions() functions {
	clock := clock{now: s.options.Now.UTC()}
	return functions{
		base: map[string]gopher.LGFunction{
			"expiresAt": expiresAt, "print": s.print, "setmetatable": setMetatable, "type": typeOf,
		},
		string: map[string]gopher.LGFunction{"rep": repeat},
		math:   map[string]gopher.LGFunction{"random": s.randomNumber, "randomseed": s.randomSeed},
		os:     map[string]gopher.LGFunction{"time": clock.time, "date": clock.date, "difftime": difftime},
	}
}

func (s *Session) print(state *gopher.LState) int {
	var words []string
	for i := 1; i <= state.GetTop(); i++ {
		words = append(words, state.ToStringMeta(state.Get(i)).String())
	}
	if s.options.Print == nil || s.printed == printLines {
		return 0
	}
	s.printed++
	s.options.Print(cut(strings.Join(words, "\t"), printLength))
	return 0
}

// typeNames are the results of type, by type. The interpreter's own type allocates one for each call.
var typeNames = func() (names [gopher.LTChannel + 1]gopher.LValue) {
	for kind := range names {
		names[kind] = gopher.LString(gopher.LValueType(kind).String())
	}
	return names
}()

func typeOf(state *gopher.LState) int {
	state.Push(typeNames[state.CheckAny(1).Type()])
	return 1
}

// setMetatable takes tables only, as Lua 5.1 does. The interpreter's own also takes numbers, booleans and functions,
// whose metatable all values of that type share: it would outlive the object.
func setMetatable(state *gopher.LState) int {
	state.CheckTypes(2, gopher.LTNil, gopher.LTTable)
	if state.Get(1) == gopher.LNil {
		state.RaiseError("cannot set metatable to a nil object.")
	}
	table := state.CheckTable(1)
	if meta, ok := table.Metatable.(*gopher.LTable); ok && meta.RawGetString("__metatable") != gopher.LNil {
		state.RaiseError("cannot change a protected metatable")
	}
	state.SetMetatable(table, state.Get(2))
	state.SetTop(1)
	return 1
}

func repeat(state *gopher.LState) int {
	text, count := state.CheckString(1), max(0, state.CheckInt(2))
	if count > 0 && len(text) > maxRepeat/count {
		state.RaiseError("string.rep would build more than 1 MiB")
	}
	state.Push(gopher.LString(strings.Repeat(text, count)))
	return 1
}

// generator makes the random numbers of one call depend on the run and the object, and not on which objects came
// before. It is made when a script asks for the first one, as most never do.
func (s *Session) generator() *rand.Rand {
	if s.random != nil {
		return s.random
	}
	uid := string(s.current.UID)
	if uid == "" {
		uid = object.JSON(s.current.Raw).At("metadata", "uid").Text()
	}
	stream := uint64(14695981039346656037)
	for _, b := range []byte(uid) {
		stream = (stream ^ uint64(b)) * 1099511628211
	}
	s.random = rand.New(rand.NewPCG(uint64(s.options.Seed), stream))
	return s.random
}

func (s *Session) randomSeed(state *gopher.LState) int {
	s.random = rand.New(rand.NewPCG(uint64(state.CheckInt64(1)), 0))
	return 0
}

func (s *Session) randomNumber(state *gopher.LState) int {
	if state.GetTop() == 0 {
		state.Push(gopher.LNumber(s.generator().Float64()))
		return 1
	}
	low, high := int64(1), state.CheckInt64(1)
	if state.GetTop() > 1 {
		low, high = high, state.CheckInt64(2)
	}
	// The difference overflows for extreme bounds: then it is not positive.
	if high < low || high-low+1 <= 0 {
		state.ArgError(state.GetTop(), "the interval is empty or too large")
	}
	state.Push(gopher.LNumber(low + s.generator().Int64N(high-low+1)))
	return 1
}
