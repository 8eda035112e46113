// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		s := program.NewSession(Options{Now: now})
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
