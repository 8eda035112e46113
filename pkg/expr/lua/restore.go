// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"math"
	"slices"

	gopher "github.com/yuin/gopher-lua"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	maxDepth = 64
	maxNodes = 100_000
)

// restorer makes JSON values of Lua values. Lua has one type for lists and maps, one for numbers and no null, so each
// value is compared with its original: the JSON value that its table was made of, wherever the script moved it, or else
// the one that stood at the same path. What equals its original is written as the original, exactly: as a node, which
// is not decoded. A table that no script touched and that is where it was is such a node as a whole.
type restorer struct {
	box *sandbox
	// root is the original object.
	root node
	// open holds the tables around the current value: meeting one again is a cycle.
	open map[*gopher.LTable]bool
	// nodes and depth are what is left, and what is allowed. An object that was larger from the start may stay so: own
	// says how much it adds, once that is asked for.
	nodes, depth int
	own          bool
}

func newRestorer(box *sandbox, root node) *restorer {
	return &restorer{box: box, root: root, open: make(map[*gopher.LTable]bool), nodes: maxNodes, depth: maxDepth}
}

// allow raises the limits to what the original object had, when the usual ones do not suffice.
func (r *restorer) allow(level int) bool {
	if !r.own && (r.nodes < 0 || level >= r.depth) {
		r.own = true
		nodes, depth := size(r.root.raw)
		r.nodes += nodes
		r.depth = max(r.depth, depth)
	}
	return r.nodes >= 0 && level < r.depth
}

// size bounds the values in a text, and says how many of them stand in each other. It reads the text once.
func size(raw object.JSON) (nodes, depth int) {
	nodes, depth = 3, 1 // the value itself, and what a root may lack
	level := 1
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			nodes++
			level++
			depth = max(depth, level)
		case '}', ']':
			level--
		case ',':
			nodes++
		}
	}
	return nodes, depth
}

func (r *restorer) value(value gopher.LValue, original node, at *path) (any, error) {
	r.nodes--
	if !r.allow(at.depth()) {
		if r.nodes < 0 {
			return nil, faultf("transform returned more than %d values", maxNodes)
		}
		return nil, faultf("transform returned a table nested deeper than %d levels at %s", r.depth, at)
	}
	switch value := value.(type) {
	case *gopher.LTable:
		return r.table(value, original, at)
	case gopher.LNumber, gopher.LString, gopher.LBool:
		if original.isScalar() && scalarOf(original.raw) == value {
			return original, nil
		}
		return newScalar(value, at)
	}
	return nil, faultf(
		"transform returned %s at %s; set it to a text, number, boolean, table or nil",
		described(value),
		at,
	)
}

func (r *restorer) table(table *gopher.LTable, original node, at *path) (any, error) {
	if l := r.box.lazy(table); l != nil && original.isSame(l.node()) && r.box.untouched(l) {
		return original, nil
	}
	r.box.plain(table)
	if r.open[table] {
		return nil, faultf("transform returned a table that contains itself at %s", at)
	}
	r.open[table] = true
	defer delete(r.open, table)
	source, edited := r.box.forced[table]
	if edited {
		original = source.node()
	}
	keys, err := stringKeys(table, at)
	length := table.MaxN()
	switch {
	case err != nil:
		return nil, err
	case length > 0 && len(keys) > 0:
		return nil, faultf("the table at %s has numbered elements and the key %q; it must be a list or a map", at, keys[0])
	case length > 0:
		return r.list(table, length, original, edited, at)
	case len(keys) > 0:
		return r.object(table, keys, original, at)
	}
	return empty(original, at), nil
}

// empty decides what an empty table is: a list where one was, and else a map, as in k8s-cleaner. What holds only nulls
// looks empty to the script, and stays as it is. In metadata, which all kinds have alike, an empty table where there
// was nothing is nothing: the API server does not keep it either.
func empty(original node, at *path) any {
	switch original.raw.Type() {
	case object.Map:
		return onlyNulls(original.fields())
	case object.List:
		if before := original.elements(); trailingNulls(before, 0) {
			return make([]any, len(before))
		}
		return []any{}
	}
	switch at.String() {
	case "metadata.labels", "metadata.annotations", "metadata.finalizers", "metadata.ownerReferences":
		return nil
	}
	return map[string]any{}
}

func (r *restorer) object(table *gopher.LTable, keys []string, original node, at *path) (any, error) {
	before := original.fields()
	result := onlyNulls(before)
	for _, key := range keys {
		value, err := r.value(table.RawGetString(key), before[key], at.field(key))
		if err != nil {
			return nil, err
		}
		result[key] = value
	}
	return result, nil
}

func (r *restorer) list(table *gopher.LTable, length int, original node, edited bool, at *path) (any, error) {
	before := original.elements()
	if r.nodes -= length; !r.allow(0) {
		return nil, faultf("transform returned more than %d values", maxNodes)
	}
	r.nodes += length
	result := make([]any, 0, length)
	for i := range length {
		element := table.RawGetInt(i + 1)
		var was node
		if i < len(before) {
			was = before[i]
		}
		if element == gopher.LNil {
			// A null of the original looks like a hole, and stays.
			if i < len(before) && was.isNull() {
				result = append(result, nil)
				continue
			}
			return nil, faultf("the list at %s has nil at index %d; use table.remove to shorten it", at, i+1)
		}
		value, err := r.value(element, was, at.index(i+1))
		if err != nil {
			return nil, err
		}
		result = append(result, value)
	}
	// Nulls at the end are invisible too. They stay where they were: behind a list that the script edited but neither
	// lengthened nor shortened, and behind one that it copied.
	if trailingNulls(before, length) && (edited || allEqual(before[:length], result)) {
		result = append(result, make([]any, len(before)-length)...)
	}
	return result, nil
}

func allEqual(before []node, now []any) bool {
	for i, was := range before {
		if !was.equals(now[i]) {
			return false
		}
	}
	return true
}

// trailingNulls says whether the original goes on with nulls alone.
func trailingNulls(list []node, from int) bool {
	if len(list) < from {
		return false
	}
	return !slices.ContainsFunc(list[from:], func(element node) bool { return !element.isNull() })
}

func onlyNulls(original map[string]node) map[string]any {
	result := make(map[string]any)
	for key, value := range original {
		if value.isNull() {
			result[key] = nil
		}
	}
	return result
}

// stringKeys returns the sorted keys of a table that are not its numbered elements. Of several wrong keys it names the
// first.
func stringKeys(table *gopher.LTable, at *path) ([]string, error) {
	var keys []string
	for key, _ := table.Next(gopher.LNil); key != gopher.LNil; key, _ = table.Next(key) {
		switch key := key.(type) {
		case gopher.LString:
			keys = append(keys, string(key))
		case gopher.LNumber:
			if key < 1 || float64(key) != math.Trunc(float64(key)) || key >= gopher.LNumber(gopher.MaxArrayIndex) {
				return nil, faultf("the table at %s has the key %s; count lists from 1, and use tostring for keys of maps", at, key)
			}
		default:
			return nil, faultf("the table at %s has a key that is %s; keys must be texts", at, described(key))
		}
	}
	slices.Sort(keys)
	return keys, nil
}
