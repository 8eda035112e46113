// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestPart(t *testing.T) {
	const text = ` { "spec" : {"a":[1, {}]} ,"metadata":{"managedFields":[{"f":{}}],"name":"x"}, "st\u0061tus":{"big":12345678901234567890}, "status":null,"data":{},"metadata":{"managedFields":[],"uid":"u"}} `
	for name, c := range map[string]struct {
		part Part
		want string
	}{
		"nothing":             {Part{Narrow: true}, `{}`},
		"whole":               {Part{}, text},
		"what is not there":   {Part{Narrow: true, Fields: []string{"x", "big", "name"}}, `{}`},
		"one field":           {Part{Narrow: true, Fields: []string{"spec"}}, `{"spec" : {"a":[1, {}]}}`},
		"twice, and escaped":  {Part{Narrow: true, Fields: []string{"status"}}, `{"st\u0061tus":{"big":12345678901234567890},"status":null}`},
		"metadata":            {Part{Narrow: true, Fields: []string{"metadata"}}, `{"metadata":{"name":"x"},"metadata":{"uid":"u"}}`},
		"with managed fields": {Part{Narrow: true, Fields: []string{"metadata"}, ManagedFields: true}, `{"metadata":{"managedFields":[{"f":{}}],"name":"x"},"metadata":{"managedFields":[],"uid":"u"}}`},
		"several":             {Part{Narrow: true, Fields: []string{"data", "spec"}}, `{"spec" : {"a":[1, {}]},"data":{}}`},
	} {
		if got := string(c.part.Append([]byte("before"), JSON("[1]"))); got != "before[1]" {
			t.Errorf("%s: what is no map became %s", name, got)
		}
		if got := string(c.part.Append([]byte("before"), JSON(text))); got != "before"+c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestPartMetadataOnly(t *testing.T) {
	for want, parts := range map[bool][]Part{
		true:  {{Narrow: true}, {Narrow: true, Fields: []string{"metadata"}}, {Narrow: true, Fields: []string{"apiVersion", "kind", "metadata"}, ManagedFields: true}},
		false: {{}, {Fields: []string{"metadata"}}, {Narrow: true, Fields: []string{"metadata", "spec"}}, {Narrow: true, Fields: []string{"status"}}},
	} {
		for _, part := range parts {
			if part.MetadataOnly() != want {
				t.Errorf("%+v: metadata only: %t", part, !want)
			}
		}
	}
}

// FuzzPart compares with what decoding and encoding make of it.
func FuzzPart(f *testing.F) {
	for _, text := range []string{`{}`, `{"metadata":{"name":"x","managedFields":[]},"spec":1,"spec":2}`, `{"m\u0065tadata":{"managedFields":1}}`, `{"a":`, `[`, ``} {
		f.Add(text, "spec", false)
	}
	f.Fuzz(func(t *testing.T, text, field string, managed bool) {
		part := Part{Narrow: true, Fields: []string{"metadata", field}, ManagedFields: managed}
		got := part.Append(nil, JSON(text)) // must not panic, whatever it is
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &want) != nil || want == nil {
			return
		}
		for name := range want {
			if name != "metadata" && name != field {
				delete(want, name)
			}
		}
		var decoded map[string]json.RawMessage
		if err := json.Unmarshal(got, &decoded); err != nil {
			t.Fatalf("%s became %s: %v", text, got, err)
		}
		for _, fields := range []map[string]json.RawMessage{want, decoded} {
			var metadata map[string]any
			if json.Unmarshal(fields["metadata"], &metadata) == nil && metadata != nil && !managed {
				delete(metadata, "managedFields")
				fields["metadata"], _ = json.Marshal(metadata)
			}
		}
		if !reflect.DeepEqual(want, decoded) {
			t.Errorf("%s became %s, want %s", text, decoded, want)
		}
	})
}
