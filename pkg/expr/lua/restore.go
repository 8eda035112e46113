// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	gopher "github.com/yuin/gopher-lua"
)

const (
	maxDepth = 64
	maxNodes = 100_000
	// maxExact is the largest whole number up to which a double has them all.
	maxExact = 1 << 53
)

// restorer makes JSON values of Lua values. Lua has one type for lists and maps, one for numbers and no null, so each
// value is compared with its original: the JSON value that its table was made of, wherever the script moved it, or else
// the one that stood at the same path. What equals its original is written as the original, exactly.
type restorer struct {
	sources map[*gopher.LTable]any
	// open holds the tables around the current value: meeting one again is a cycle.
	open map[*gopher.LTable]bool
	// nodes and depth are what is left, and what is allowed. An object that was larger from the start may stay so.
	nodes, depth int
}

func newRestorer(in importer) *restorer {
	return &restorer{
		sources: in.sources, open: make(map[*gopher.LTable]bool),
		nodes: maxNodes + in.nodes, depth: max(maxDepth, in.depth),
	}
}

func (r *restorer) value(value gopher.LValue, original any, at *path) (any, error) {
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
		if equalScalar(value, original) {
			return original, nil
		}
		return newScalar(value, at)
	}
	return nil, faultf("transform returned %s at %s; set it to a text, number, boolean, table or nil", described(value), at)
}

func equalScalar(value gopher.LValue, original any) bool {
	switch original.(type) {
	case string, bool, json.Number:
		return scalar(original) == value
	}
	return false
}

func newScalar(value gopher.LValue, at *path) (any, error) {
	switch value := value.(type) {
	case gopher.LBool:
		return bool(value), nil
	case gopher.LString:
		if !utf8.ValidString(string(value)) {
			return nil, faultf("the text at %s is not valid UTF-8; string.sub may have cut a character in two", at)
		}
		return string(value), nil
	case gopher.LNumber:
		return newNumber(float64(value), at)
	}
	return nil, faultf("transform returned %s at %s", described(value), at)
}

func newNumber(number float64, at *path) (any, error) {
	switch {
	case math.IsNaN(number) || math.IsInf(number, 0):
		return nil, faultf("the number at %s is not finite; look for a division by zero", at)
	case number != math.Trunc(number):
		return json.Number(strconv.FormatFloat(number, 'g', -1, 64)), nil
	case math.Abs(number) > maxExact:
		return nil, faultf("the number at %s is larger than 2^53, which Lua cannot hold exactly; leave it unchanged", at)
	}
	return json.Number(strconv.FormatInt(int64(number), 10)), nil
}

func (r *restorer) table(table *gopher.LTable, original any, at *path) (any, error) {
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
	return empty(original, at)
}

// empty decides what an empty table is. What holds only nulls looks empty to the script, and stays as it is.
func empty(original any, at *path) (any, error) {
	switch original := original.(type) {
	case map[string]any:
		return onlyNulls(original), nil
	case []any:
		if trailingNulls(original, 0) {
			return original, nil
		}
		return []any{}, nil
	}
	return nil, faultf("the new empty table at %s could be a list or a map; set it to nil, or put something into it", at)
}

func (r *restorer) object(table *gopher.LTable, keys []string, original any, at *path) (any, error) {
	before, _ := original.(map[string]any)
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

func (r *restorer) list(table *gopher.LTable, length int, original any, at *path) (any, error) {
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
			return nil, faultf("the list at %s has nothing at index %d; use table.remove to shorten it", at, i+1)
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
	if trailingNulls(before, length) && (edited || reflect.DeepEqual(result, before[:length])) {
		result = append(result, before[length:]...)
	}
	return result, nil
}

// trailingNulls says whether the original goes on with nulls alone.
func trailingNulls(list []any, from int) bool {
	if len(list) < from {
		return false
	}
	return !slices.ContainsFunc(list[from:], func(element any) bool { return element != nil })
}

func onlyNulls(original map[string]any) map[string]any {
	result := make(map[string]any)
	for key, value := range original {
		if value == nil {
			result[key] = nil
		}
	}
	return result
}

// stringKeys returns the sorted keys of a table that are not its numbered elements.
func stringKeys(table *gopher.LTable, at *path) ([]string, error) {
	var keys []string
	var err error
	table.ForEach(func(key, _ gopher.LValue) {
		switch key := key.(type) {
		case gopher.LString:
			keys = append(keys, string(key))
		case gopher.LNumber:
			if key < 1 || float64(key) != math.Trunc(float64(key)) || key >= gopher.LNumber(gopher.MaxArrayIndex) {
				err = faultf("the table at %s has the key %s; count lists from 1, and use tostring for keys of maps", at, key)
			}
		default:
			err = faultf("the table at %s has a key that is %s; keys must be texts", at, described(key))
		}
	})
	slices.Sort(keys)
	return keys, err
}
