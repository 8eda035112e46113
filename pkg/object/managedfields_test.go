// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAppendWithoutManagedFields(t *testing.T) {
	for text, want := range map[string]string{
		`{"metadata":{"managedFields":[{"a":{"f:x":{}}}],"name":"a"},"b":1}`:                  `{"metadata":{"name":"a"},"b":1}`,
		`{"metadata":{"name":"a","managedFields":[]},"b":1}`:                                  `{"metadata":{"name":"a"},"b":1}`,
		`{"metadata":{"name":"a","managedFields":[],"uid":"u"}}`:                              `{"metadata":{"name":"a","uid":"u"}}`,
		`{"metadata":{"managedFields":[]}}`:                                                   `{"metadata":{}}`,
		`{ "metadata" : { "managedFields" : [ ] , "name" : "a" } , "b" : 1 } `:                `{ "metadata" : { "name" : "a" } , "b" : 1 } `,
		"{\n \"metadata\": {\n  \"name\": \"a\",\n  \"managedFields\": []\n },\n \"b\": 1\n}": "{\n \"metadata\": {\n  \"name\": \"a\"},\n \"b\": 1\n}",
		`{"metadata":{"managedFields":1,"managedFields":2}}`:                                  `{"metadata":{}}`,
		`{"metadata":{"a":1,"managedFields":1,"managedFields":2}}`:                            `{"metadata":{"a":1}}`,
		`{"metadata":{"managedFields":1,"a":1,"managedFields":2}}`:                            `{"metadata":{"a":1}}`,
		`{"metadata":{"m\u0061nagedFields":1,"a":"managedFields"}}`:                           `{"metadata":{"a":"managedFields"}}`,
		`{"b":{"metadata":{"managedFields":1}},"managedFields":2}`:                            `{"b":{"metadata":{"managedFields":1}},"managedFields":2}`,
		`{"metadata":{"b":{"managedFields":1}}}`:                                              `{"metadata":{"b":{"managedFields":1}}}`,
		`{"metadata":null}`:                                                                   `{"metadata":null}`,
		`{"metadata":[1]}`:                                                                    `{"metadata":[1]}`,
		`{}`:                                                                                  `{}`,
		`[]`:                                                                                  `[]`,
		`null`:                                                                                `null`,
	} {
		const before = `, ` // what is in dst already stays, also where it looks like a comma too many
		if got := string(AppendWithoutManagedFields([]byte(before), JSON(text))); got != before+want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}

func TestAppendWithoutManagedFieldsKeepsTheRestOfAPod(t *testing.T) {
	pod := JSON(samplePod(t))
	without := JSON(AppendWithoutManagedFields(nil, pod))
	fields := `"managedFields":` + string(pod.At("metadata", "managedFields"))
	if want := strings.Replace(string(pod), ","+fields, "", 1); string(without) != want || len(want) == len(pod) {
		t.Errorf("the pod became %s", without)
	}
}

// Managed fields among random others, at every place.
func TestAppendWithoutManagedFieldsOfRandomObjects(t *testing.T) {
	for seed := range uint64(2000) {
		var fields []string
		for i := range seed % 4 {
			fields = append(fields, strconv.Quote(string(rune('a'+i)))+":"+string(randomJSON(seed*7+i)))
		}
		at := int(seed/4) % (len(fields) + 1)
		fields = append(fields[:at:at], append([]string{`"managedFields":` + string(randomJSON(seed*7+5))}, fields[at:]...)...)
		text := JSON(`{"metadata": { ` + strings.Join(fields, " , ") + ` } }`)
		decoded, err := text.Decode()
		if err != nil {
			t.Fatal(err)
		}
		checkWithoutManagedFields(t, decoded, AppendWithoutManagedFields(nil, text))
	}
}

func checkWithoutManagedFields(t *testing.T, decoded any, without JSON) {
	t.Helper()
	if object, ok := decoded.(map[string]any); ok {
		if metadata, ok := object["metadata"].(map[string]any); ok {
			delete(metadata, "managedFields")
		}
	}
	if !json.Valid(without) {
		t.Fatalf("%q is not JSON", without)
	}
	if diff := cmp.Diff(decoded, decodedBy(without)); diff != "" {
		t.Fatalf("%q: %s", without, diff)
	}
}
