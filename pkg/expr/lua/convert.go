// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"encoding/json"
	"maps"
	"slices"

	gopher "github.com/yuin/gopher-lua"
)

// importer makes Lua values of JSON values.
type importer struct {
	state *gopher.LState
	// sources remembers which JSON value each table was made of. Nil remembers nothing.
	sources map[*gopher.LTable]any
	// nodes and depth are the size of what was imported.
	nodes, depth int
}

func (in *importer) value(value any, depth int) gopher.LValue {
	in.nodes++
	in.depth = max(in.depth, depth)
	switch value := value.(type) {
	case map[string]any:
		return in.object(value, depth)
	case []any:
		return in.list(value, depth)
	}
	return scalar(value)
}

// object leaves out nulls: scripts cannot tell them from absent fields. Keys are sorted, so that pairs has one order.
func (in *importer) object(value map[string]any, depth int) *gopher.LTable {
	table := in.state.CreateTable(0, len(value))
	for _, key := range slices.Sorted(maps.Keys(value)) {
		if value[key] != nil {
			table.RawSetString(key, in.value(value[key], depth+1))
		}
	}
	in.remember(table, value)
	return table
}

// list keeps the place of nulls, so that the elements behind them keep their index.
func (in *importer) list(value []any, depth int) *gopher.LTable {
	table := in.state.CreateTable(len(value), 0)
	for i, element := range value {
		table.RawSetInt(i+1, in.value(element, depth+1))
	}
	in.remember(table, value)
	return table
}

func (in *importer) remember(table *gopher.LTable, value any) {
	if in.sources != nil {
		in.sources[table] = value
	}
}

// scalar converts what is neither a map nor a list. Numbers are doubles in Lua, which prints whole ones without ".0"; a
// number out of range is infinite there, and its text survives in the source.
func scalar(value any) gopher.LValue {
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
