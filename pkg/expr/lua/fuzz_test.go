// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utilclock "k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// FuzzTransform sets one field of any object, and looks whether the patch changes that and nothing else.
func FuzzTransform(f *testing.F) {
	f.Add(`{"a":[],"b":{},"c":null,"d":[null,[1]],"e":9007199254740993}`)
	f.Add(`{"replicas":3,"x":1e400,"":{"1":2}}`)
	program, err := Compile(`function transform() obj.spec.added = 5 return {resource=obj} end`)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		if len(spec) > 2048 {
			t.Skip()
		}
		raw := `{"metadata":{"name":"x","uid":"u","resourceVersion":"1"},"spec":` + spec + `}`
		o, err := object.New(kind("", "v1", "Thing"), []byte(raw))
		if err != nil {
			t.Skip()
		}
		want, err := o.Value()
		if err != nil {
			t.Skip()
		}
		inner, ok := want["spec"].(map[string]any)
		if !ok || want["metadata"].(map[string]any)["name"] != "x" {
			t.Skip()
		}
		inner["added"] = json.Number("5")
		s := program.NewSession(Options{Now: now, Clock: utilclock.RealClock{}})
		defer s.Close()
		patch, _, err := s.Transform(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		original, _ := o.Value()
		got := any(original)
		if patch != nil {
			got = applyMergePatch(original, decode(t, encode(t, patch)))
		}
		// A field that was 5.0 already keeps its text.
		if number, ok := original["spec"].(map[string]any)["added"].(json.Number); ok && eagerScalar(number) == eagerScalar(json.Number("5")) {
			inner["added"] = number
		}
		if diff := cmp.Diff(any(want), got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzLibrary compares calls with any arguments.
func FuzzLibrary(f *testing.F) {
	quiet(f)
	functions := slices.Sorted(maps.Keys(correct))
	for i := range functions {
		f.Add([]byte{byte(i), 2, 1, 4, 2, 5}, "text", int16(2))
	}
	f.Fuzz(func(t *testing.T, data []byte, text string, number int16) {
		if len(text) > 12 || len(data) > 64 {
			t.Skip()
		}
		c := newChooser(data, 1)
		call := libraryCall{function: functions[c.n(len(functions))]}
		values := append(slices.Clone(others), quotedLua(text), fmt.Sprint(number), fmt.Sprintf("%d.5", number), quotedLua(fmt.Sprint(number)),
			fmt.Sprintf("{%d, %s}", number, quotedLua(text)), fmt.Sprintf("{year=2026, month=%d, day=%s}", number, quotedLua(text)))
		for range c.n(5) {
			call.arguments = append(call.arguments, values[c.n(len(values))])
		}
		call.method = strings.HasPrefix(call.function, "string.") && len(call.arguments) > 0 && c.n(2) == 0
		e := newBothEngines(t)
		defer e.close()
		e.compare(t, call)
	})
}

// quotedLua writes a text as Lua does.
func quotedLua(text string) string {
	var quoted strings.Builder
	quoted.WriteByte('"')
	for i := range len(text) {
		fmt.Fprintf(&quoted, `\%03d`, text[i])
	}
	quoted.WriteByte('"')
	return quoted.String()
}
