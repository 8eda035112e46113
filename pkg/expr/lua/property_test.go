// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func decode(t testing.TB, raw string) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader([]byte(raw)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// sorted rewrites JSON with its keys in the encoder's order.
func sorted(t testing.TB, raw string) string {
	t.Helper()
	return encode(t, decode(t, raw))
}

// applyMergePatch is the pseudocode of RFC 7386, section 2.
func applyMergePatch(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	result := map[string]any{}
	if old, ok := target.(map[string]any); ok {
		result = maps.Clone(old)
	}
	for key, value := range changes {
		if value == nil {
			delete(result, key)
			continue
		}
		result[key] = applyMergePatch(result[key], value)
	}
	return result
}

func randomScalar() *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.Just[any](true), rapid.Just[any](false),
		rapid.Map(rapid.SampledFrom([]string{"", "x", "é", "1", "a.b/c", "\x00\x7f"}), func(s string) any { return s }),
		rapid.Map(rapid.SampledFrom([]string{"0", "-1", "3", "3.0", "0.5", "1e3", "9007199254740993", "-9223372036854775808", "1e400"}),
			func(s string) any { return json.Number(s) }),
	)
}

func randomMap(depth int) *rapid.Generator[map[string]any] {
	return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "1", "", "a.b/c"}), randomValue(depth-1), 0, 4)
}

func randomValue(depth int) *rapid.Generator[any] {
	if depth == 0 {
		return randomScalar()
	}
	return rapid.OneOf(
		randomScalar(), rapid.Just[any](nil),
		rapid.Map(randomMap(depth), func(m map[string]any) any { return m }),
		rapid.Map(rapid.SliceOfN(randomValue(depth-1), 0, 4), func(l []any) any { return l }),
	)
}

func randomObject(t *rapid.T, tb testing.TB) (object.Object, map[string]any) {
	raw := encode(tb, map[string]any{
		"metadata": map[string]any{"namespace": "default", "name": "x", "uid": "u", "resourceVersion": "1"},
		"spec":     randomMap(4).Draw(t, "spec"),
	})
	o := newObject(tb, kind("", "v1", "Thing"), raw)
	value, err := o.Value()
	if err != nil {
		t.Fatal(err)
	}
	return o, value
}

func TestTransformWithoutChangeIsNil(t *testing.T) {
	s := session(t, `function transform() return {resource=obj} end`)
	rapid.Check(t, func(rt *rapid.T) {
		o, _ := randomObject(rt, t)
		patch, _, err := s.Transform(t.Context(), o)
		if patch != nil || err != nil {
			rt.Fatalf("%s: %v, %v", o.Raw, patch, err)
		}
	})
}

// edit is one assignment: the Lua statement, and what it does to the object.
type edit struct {
	lua   string
	apply func()
}

// randomEdit walks to a random field or element and assigns to it.
func randomEdit(t *rapid.T, value map[string]any) edit {
	at, lua := value["spec"], "obj.spec"
	set := func(any) {}
	for {
		var next any
		switch node := at.(type) {
		case map[string]any:
			keys := slices.Sorted(maps.Keys(node))
			key := rapid.SampledFrom(append(keys, "new")).Draw(t, "key")
			lua += fmt.Sprintf("[%s]", quote(key))
			set = func(v any) {
				if node[key] = v; v == nil {
					delete(node, key)
				}
			}
			next = node[key]
		case []any:
			index := rapid.IntRange(0, len(node)-1).Draw(t, "index")
			lua += fmt.Sprintf("[%d]", index+1)
			set = func(v any) { node[index] = v }
			next = node[index]
		}
		inner, isList := next.([]any)
		_, isMap := next.(map[string]any)
		if (isMap || isList && len(inner) > 0) && rapid.Bool().Draw(t, "deeper") {
			at = next
			continue
		}
		_, inList := at.([]any)
		return assignment(t, lua, set, next, inList)
	}
}

func assignment(t *rapid.T, lua string, set func(any), was any, inList bool) edit {
	choices := map[string]any{
		`"text"`: "text", `true`: true, `7`: json.Number("7"), `0.5`: json.Number("0.5"),
		`{1, {k="v"}}`: []any{json.Number("1"), map[string]any{"k": "v"}},
		`{k={"x"}}`:    map[string]any{"k": []any{"x"}},
	}
	// Deleting a field that is null already changes nothing, and an element cannot be deleted by assignment.
	if was != nil && !inList {
		choices["nil"] = nil
	}
	code := rapid.SampledFrom(slices.Sorted(maps.Keys(choices))).Draw(t, "value")
	return edit{lua: lua + " = " + code, apply: func() { set(withNullsOf(was, choices[code])) }}
}

// withNullsOf keeps the nulls of what a new value replaces, at any depth: a script cannot see them, so it cannot mean
// to remove them. Elements of lists are compared by their index.
func withNullsOf(was, now any) any {
	switch now := now.(type) {
	case map[string]any:
		if old, ok := was.(map[string]any); ok {
			return mapWithNullsOf(old, now)
		}
	case []any:
		if old, ok := was.([]any); ok {
			return listWithNullsOf(old, now)
		}
	}
	return now
}

func mapWithNullsOf(was, now map[string]any) map[string]any {
	result := make(map[string]any)
	for key, value := range was {
		if value == nil {
			result[key] = nil
		}
	}
	for key, value := range now {
		result[key] = withNullsOf(was[key], value)
	}
	return result
}

func listWithNullsOf(was, now []any) []any {
	result := slices.Clone(now)
	for i := range min(len(was), len(now)) {
		result[i] = withNullsOf(was[i], now[i])
	}
	// A list that is the same but for nulls at its end is the same list for the script.
	if len(was) > len(now) && cmp.Equal(was[:len(now)], result) && !slices.ContainsFunc(was[len(now):], isSet) {
		return was
	}
	return result
}

func isSet(value any) bool { return value != nil }

func quote(text string) string {
	var quoted strings.Builder
	for _, b := range []byte(text) {
		quoted.WriteString(`\` + fmt.Sprintf("%03d", b))
	}
	return `"` + quoted.String() + `"`
}

func TestTransformPatchGivesTheEditedObject(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o, want := randomObject(rt, t)
		change := randomEdit(rt, want)
		change.apply()
		s := session(t, "function transform() "+change.lua+" return {resource=obj} end")
		defer s.Close()
		patch, _, err := s.Transform(t.Context(), o)
		if err != nil {
			rt.Fatalf("%s on %s: %v", change.lua, o.Raw, err)
		}
		original, err := o.Value()
		if err != nil {
			rt.Fatal(err)
		}
		got := any(original)
		if patch != nil {
			got = applyMergePatch(original, decode(t, encode(t, patch)))
		}
		if diff := cmp.Diff(any(want), got); diff != "" {
			rt.Fatalf("%s on %s gave %v:\n%s", change.lua, o.Raw, patch, diff)
		}
	})
}
