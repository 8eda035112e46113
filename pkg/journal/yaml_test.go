// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

var configMaps = object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Resource: "configmaps", Namespaced: true}

// objectOf makes an object of its JSON.
func objectOf(t *testing.T, kind object.Kind, raw string) object.Object {
	t.Helper()
	o, err := object.New(kind, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// awkward are values that YAML is known to be bad at.
var awkward = map[string]string{
	"plain":            `"x"`,
	"empty":            `""`,
	"old bool":         `["yes","no","on","off","y","N","true","null","~"]`,
	"like numbers":     `["1","1e3","0x10","0o7","012","1_000","190:20:30",".5","1.","-","+1",".inf",".nan"]`,
	"like dates":       `["2001-01-01","2001-12-14t21:59:43.10-05:00","=","<<"]`,
	"numbers":          `[0,-0,1,-1,9007199254740993,18446744073709551615,123456789012345678901234567890,1.5,1.50,1E+2,1e400,-1.0e-7]`,
	"empty map, list":  `[{},[],null,true,false,[[]],[{}]]`,
	"lines":            `"a\nb\n"`,
	"leading newline":  `"\n\n  a\n"`,
	"leading blank":    `"  a\n b\n"`,
	"trailing blank":   `"a \nb\t\n\n\n"`,
	"tabs":             `"\ta\n\tb"`,
	"carriage returns": `"a\r\nb\r"`,
	"only newlines":    `"\n\n"`,
	"control":          `"\u0000\u0001\u007f\u0080\u0085\u009f\u2028\u2029\ufeff\ufffe"`,
	"control in lines": `"a\n\u0007b\n"`,
	"emoji":            `"😀 \ud83d\ude00"`,
	"lone surrogate":   `"\ud83d"`,
	"comment":          `["# a","a # b","a: b","- a","? a","[a","{a","&a","*a","!a","|","> a","%a","@a","` + "`a" + `","---","..."]`,
	"html":             `"<a & b>"`,
	"long":             `"` + strings.Repeat("word ", 2000) + `"`,
}

// What is written into a file is what the API server sent, without managedFields and resourceVersion, to the last digit.
func TestFileGivesTheObjectBackExactly(t *testing.T) {
	for name, value := range awkward {
		t.Run(name, func(t *testing.T) {
			o := objectOf(t, configMaps, `{"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","managedFields":[{"manager":"m"}]},"value":`+value+`,"in":{"key: `+"`"+`x":`+value+`}}`)
			file, err := encodeFile(o)
			if err != nil {
				t.Fatal(err)
			}
			got, err := decodeFile(file)
			if err != nil {
				t.Fatalf("%v in:\n%s", err, file)
			}
			want := decodeJSON(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n","uid":"u"},"value":`+value+`,"in":{"key: `+"`"+`x":`+value+`}}`)
			if !reflect.DeepEqual(want, got) {
				t.Fatalf("read back as %#v, want %#v:\n%s", got, want, file)
			}
			// kubectl apply reads it too.
			var applied map[string]any
			if err := yaml.Unmarshal(file, &applied); err != nil && name != "numbers" { // of more digits than float64 has
				t.Fatalf("kubectl cannot read it: %v\n%s", err, file)
			}
		})
	}
}

func decodeJSON(t *testing.T, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestFileIsReadable(t *testing.T) {
	o := objectOf(t, configMaps, `{"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7"},"data":{"script":"#!/bin/sh\necho hello\n","n":"3"}}`)
	file, err := encodeFile(o)
	if err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: v1
data:
  "n": "3"
  script: |
    #!/bin/sh
    echo hello
kind: ConfigMap
metadata:
  name: a
  namespace: "n"
  uid: u
`
	if string(file) != want {
		t.Fatalf("the file is\n%s\nwant\n%s", file, want)
	}
}

func FuzzFile(f *testing.F) {
	for _, value := range awkward {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		raw := `{"metadata":{"name":"a","uid":"u","resourceVersion":"7"},"value":` + value + `}`
		if !json.Valid([]byte(raw)) {
			t.Skip()
		}
		o, err := object.New(configMaps, []byte(raw))
		if err != nil {
			t.Skip()
		}
		want, err := o.Value()
		if err != nil {
			t.Skip()
		}
		file, err := encodeFile(o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if metadata, ok := want["metadata"].(map[string]any); ok {
			delete(metadata, "resourceVersion")
			delete(metadata, "managedFields")
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("read back as %#v, want %#v:\n%s", got, want, bytes.TrimSpace(file))
		}
	})
}
