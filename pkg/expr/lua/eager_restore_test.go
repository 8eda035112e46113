// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"encoding/json"
	"reflect"
	"slices"

	gopher "github.com/yuin/gopher-lua"
)

// eagerRestorer makes JSON values of Lua values. Lua has one type for lists and maps, one for numbers and no null, so each
// value is compared with its original: the JSON value that its table was made of, wherever the script moved it, or else
// the one that stood at the same path. What equals its original is written as the original, exactly.
type eagerRestorer struct {
	sources map[*gopher.LTable]any
	// open holds the tables around the current value: meeting one again is a cycle.
	open map[*gopher.LTable]bool
	// nodes and depth are what is left, and what is allowed. An object that was larger from the start may stay so.
	nodes, depth int
}

func newEagerRestorer(in eagerImporter) *eagerRestorer {
	return &eagerRestorer{
		sources: in.sources, open: make(map[*gopher.LTable]bool),
		nodes: maxNodes + in.nodes, depth: max(maxDepth, in.depth),
	}
}

func (r *eagerRestorer) value(value gopher.LValue, original any, at *path) (any, error) {
	if r.nodes--; r.nodes < 0 {
		return nil, faultf("transform returned more than %d values", maxNodes)
	}
	if at.depth() >= r.depth {
		return nil, faultf("transform returned a table nested deeper than %d levels at %s", r.depth, at)
	}
	switch value := value.(type) {
	case *gopher.LTable:
		return r.table(value, original, at)
	case gopher.LNumber, gopher.LString, gopher.LBool:
		if eagerEqualScalar(value, original) {
			return original, nil
		}
		return newScalar(value, at)
	}
	return nil, faultf("transform returned %s at %s; set it to a text, number, boolean, table or nil", described(value), at)
}

func eagerEqualScalar(value gopher.LValue, original any) bool {
	switch original.(type) {
	case string, bool, json.Number:
		return eagerScalar(original) == value
	}
	return false
}

func (r *eagerRestorer) table(table *gopher.LTable, original any, at *path) (any, error) {
	if r.open[table] {
		return nil, faultf("transform returned a table that contains itself at %s", at)
	}
	r.open[table] = true
	defer delete(r.open, table)
	if source, ok := r.sources[table]; ok {
		original = source
	}
	keys, err := stringKeys(table, at)
	length := table.MaxN()
	switch {
	case err != nil:
		return nil, err
	case length > 0 && len(keys) > 0:
		return nil, faultf("the table at %s has numbered elements and the key %q; it must be a list or a map", at, keys[0])
	case length > 0:
		return r.list(table, length, original, at)
	case len(keys) > 0:
		return r.object(table, keys, original, at)
	}
	return eagerEmpty(original, at), nil
}

// eagerEmpty decides what an empty table is. What holds only nulls looks empty to the script, and stays as it is.
func eagerEmpty(original any, at *path) any {
	switch original := original.(type) {
	case map[string]any:
		return eagerOnlyNulls(original)
	case []any:
		if eagerTrailingNulls(original, 0) {
			return original
		}
		return []any{}
	}
	return empty(node{}, at)
}

func (r *eagerRestorer) object(table *gopher.LTable, keys []string, original any, at *path) (any, error) {
	before, _ := original.(map[string]any)
	result := eagerOnlyNulls(before)
	for _, key := range keys {
		value, err := r.value(table.RawGetString(key), before[key], at.field(key))
		if err != nil {
			return nil, err
		}
		result[key] = value
	}
	return result, nil
}

func (r *eagerRestorer) list(table *gopher.LTable, length int, original any, at *path) (any, error) {
	before, _ := original.([]any)
	if length > r.nodes {
		return nil, faultf("transform returned more than %d values", maxNodes)
	}
	result := make([]any, 0, length)
	for i := range length {
		element := table.RawGetInt(i + 1)
		var was any
		if i < len(before) {
			was = before[i]
		}
		if element == gopher.LNil {
			// A null of the original looks like a hole, and stays.
			if i < len(before) && was == nil {
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
	_, edited := r.sources[table]
	if eagerTrailingNulls(before, length) && (edited || reflect.DeepEqual(result, before[:length])) {
		result = append(result, before[length:]...)
	}
	return result, nil
}

// eagerTrailingNulls says whether the original goes on with nulls alone.
func eagerTrailingNulls(list []any, from int) bool {
	if len(list) < from {
		return false
	}
	return !slices.ContainsFunc(list[from:], func(element any) bool { return element != nil })
}

func eagerOnlyNulls(original map[string]any) map[string]any {
	result := make(map[string]any)
	for key, value := range original {
		if value == nil {
			result[key] = nil
		}
	}
	return result
}

// eagerMergePatch is the JSON merge patch (RFC 7386) that makes to of from. Null and absent are the same to it: a merge patch
// cannot set null.
func eagerMergePatch(from, to map[string]any) map[string]any {
	patch := make(map[string]any)
	for key, was := range from {
		if was != nil && to[key] == nil {
			patch[key] = nil
		}
	}
	for key, now := range to {
		was := from[key]
		if now == nil {
			continue
		}
		wasMap, nowMap, both := eagerTwoMaps(was, now)
		if both {
			if inner := eagerMergePatch(wasMap, nowMap); len(inner) > 0 {
				patch[key] = inner
			}
			continue
		}
		if !reflect.DeepEqual(was, now) {
			patch[key] = withoutNulls(now)
		}
	}
	return patch
}

func eagerTwoMaps(a, b any) (map[string]any, map[string]any, bool) {
	aMap, aOK := a.(map[string]any)
	bMap, bOK := b.(map[string]any)
	return aMap, bMap, aOK && bOK
}

func eagerDifference(original map[string]any, resource gopher.LValue, in eagerImporter) (map[string]any, error) {
	if resource == gopher.LNil {
		return nil, faultf("transform returned a table without resource; " +
			"return {resource=obj}, or nothing to leave the object unchanged")
	}
	restored, err := newEagerRestorer(in).value(resource, original, nil)
	if err != nil {
		return nil, err
	}
	changed, ok := restored.(map[string]any)
	if !ok {
		return nil, faultf("transform returned a resource that is no object; return {resource=obj}")
	}
	if err := eagerCheckIdentity(original, changed); err != nil {
		return nil, err
	}
	patch := eagerMergePatch(original, changed)
	if len(patch) == 0 {
		return nil, nil
	}
	return patch, nil
}

// eagerCheckIdentity protects the fields that say which object a patch is for, and which version of it was judged.
func eagerCheckIdentity(original, changed map[string]any) error {
	for _, field := range []string{"apiVersion", "kind"} {
		if !reflect.DeepEqual(original[field], changed[field]) {
			return faultf("transform changed %s; identity must stay as it was", field)
		}
	}
	was, _ := original["metadata"].(map[string]any)
	now, _ := changed["metadata"].(map[string]any)
	for _, field := range []string{"name", "namespace", "uid", "resourceVersion"} {
		if !reflect.DeepEqual(was[field], now[field]) {
			return faultf("transform changed metadata.%s; identity must stay as it was", field)
		}
	}
	return nil
}
