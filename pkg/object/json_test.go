// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// decodedBy walks the text with JSON to what Decode would make of it.
func decodedBy(j JSON) any {
	switch j.Type() {
	case Map:
		value := map[string]any{}
		for key, field := range j.Fields() {
			value[key.String()] = decodedBy(field)
		}
		return value
	case List:
		value := []any{}
		for element := range j.Elements() {
			value = append(value, decodedBy(element))
		}
		return value
	case String:
		return j.Text()
	case Number:
		return json.Number(j.String())
	case Bool:
		return j.String() == "true"
	}
	return nil
}

func TestJSONTypes(t *testing.T) {
	for text, want := range map[string]Type{
		``: Absent, ` `: Absent, `null`: Null, "\n true": Bool, `false`: Bool, `-1`: Number, `0`: Number, `""`: String, `[]`: List, "\t{}": Map,
	} {
		if got := JSON(text).Type(); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func TestJSONField(t *testing.T) {
	const text = ` { "a" : 1 , "b":{"c":[ "}" , {"d":"x\"\\"} ],"e\u0066":"\u00e9"}, "a":2, "":3, "n":null } `
	for name, test := range map[string]struct {
		path []string
		want string
	}{
		"the last of two":       {[]string{"a"}, `2`},
		"inside":                {[]string{"b", "c"}, `[ "}" , {"d":"x\"\\"} ]`},
		"a name with an escape": {[]string{"b", "ef"}, `"\u00e9"`},
		"the empty name":        {[]string{""}, `3`},
		"null":                  {[]string{"n"}, `null`},
		"of null":               {[]string{"n", "x"}, ``},
		"of a number":           {[]string{"a", "x"}, ``},
		"what is not there":     {[]string{"x", "y"}, ``},
		"of a list":             {[]string{"b", "c", "d"}, ``},
	} {
		if got := JSON(text).At(test.path...); string(got) != test.want || (got == nil) != (test.want == "") {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestJSONText(t *testing.T) {
	for text, want := range map[string]string{
		`"a"`: "a", ` "a" `: "a", `""`: "", `"\"\\\/\b\n"`: "\"\\/\b\n", `"\ud83d\ude00é"`: "😀é", `"\ud800"`: "\ufffd",
		`1`: "", `{"a":1}`: "", ``: "", `null`: "", `"`: "", `"\q"`: "",
	} {
		if got := JSON(text).Text(); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

// Strings end at any distance from the words of eight bytes that they are looked through by, and behind any number of escapes.
func TestSkipString(t *testing.T) {
	for before := range 9 {
		for length := range 30 {
			for escape := range length + 1 {
				inner := strings.Repeat("\x80", escape) + strings.Repeat(`\"`, min(3, length-escape)) + strings.Repeat(`\\`, length%4) + strings.Repeat("!", length-escape)
				text := strings.Repeat(" ", before) + `"` + inner + `"`
				for _, behind := range []string{"", `"`, `\`, `:"12345678"`} {
					if end := skipString([]byte(text+behind), before); end != len(text) {
						t.Fatalf("%q ends at %d, want %d", text+behind, end, len(text))
					}
				}
			}
		}
	}
	for _, open := range []string{`"`, `"\`, `"1234567`, `"123456\`, `"1234567\`, `"12345678\"`} {
		if end := skipString([]byte(open), 0); end != len(open) {
			t.Errorf("%q ends at %d of %d", open, end, len(open))
		}
	}
}

// writer writes random JSON text: every type, escapes, brackets in strings, names that repeat, and, if loose, white space.
type writer struct {
	bytes.Buffer
	*rand.Rand
	loose bool
}

func (w *writer) space() {
	for w.loose && w.IntN(3) == 0 {
		w.WriteByte(" \n\t\r"[w.IntN(4)])
	}
}

func (w *writer) text() {
	w.WriteByte('"')
	for range w.IntN(12) {
		w.WriteString([]string{"a", "b", "0", " ", "é", "日", "{", "}", "[", "]", ",", ":", `\"`, `\\`, `\/`, `\n`, `\u0061`, `\u00e9`, `\ud83d\ude00`}[w.IntN(19)])
	}
	w.WriteByte('"')
}

func (w *writer) value(depth int) {
	w.space()
	defer w.space()
	switch kind := w.IntN(10); {
	case kind < 3 && depth > 0:
		w.each('{', '}', func() {
			w.space()
			if w.IntN(3) == 0 {
				w.text()
			} else {
				fmt.Fprintf(w, `"%c"`, "abc"[w.IntN(3)])
			}
			w.space()
			w.WriteByte(':')
			w.value(depth - 1)
		})
	case kind < 6 && depth > 0:
		w.each('[', ']', func() { w.value(depth - 1) })
	case kind < 8:
		w.text()
	default:
		w.WriteString([]string{"true", "false", "null", "0", "-1", "3.5", "12345678901234567890", "1e400", "-0.0E-7"}[w.IntN(9)])
	}
}

func (w *writer) each(first, last byte, write func()) {
	w.WriteByte(first)
	w.space()
	for i := range w.IntN(5) {
		if i > 0 {
			w.WriteByte(',')
		}
		write()
	}
	w.WriteByte(last)
}

func randomJSON(seed uint64) JSON {
	w := writer{Rand: rand.New(rand.NewPCG(seed, 1)), loose: seed%2 == 1}
	w.value(5)
	return w.Bytes()
}

// Walking gives what decoding gives, however the text is written.
func TestJSONWalksWhatEncodingJSONDecodes(t *testing.T) {
	for seed := range uint64(1500) {
		text := randomJSON(seed)
		want, err := text.Decode()
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, text, err)
		}
		var compact, indented bytes.Buffer
		if json.Compact(&compact, text) != nil || json.Indent(&indented, text, "", "\t") != nil {
			t.Fatalf("seed %d: %s", seed, text)
		}
		for _, spelling := range [][]byte{text, compact.Bytes(), indented.Bytes()} {
			if diff := cmp.Diff(want, decodedBy(spelling)); diff != "" {
				t.Fatalf("seed %d: %s: %s", seed, spelling, diff)
			}
		}
	}
}

// Never a panic nor a loop without an end, whatever the bytes; and of what is JSON, what encoding/json makes of it.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		``, `{`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":}`, `{"a" 1}`, `{,}`, `[`, `[1`, `[,]`, `]`, `"\`, `"\"`, `{"metadata":{"managedFields":1`, `{"metadata":{"managedFields":[],}}`,
		`{"metadata":{"name":"a","uid":"b","resourceVersion":"c"},"spec":["]",{"}":"\\"}]}`, `{"a":1,"a":{"\u0061":[[]]}}`, `{"metadata":{"managedFields":1,"managedFields":2}}`,
		`{"metadata":{"name":"a","uid":"b","resourceVersion":"c","creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":null},"metadata":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := string(text)
		touchEverything(text, 50)
		o, newErr := New(configMaps(), text)
		without := AppendWithoutManagedFields(nil, text)
		if string(text) != before {
			t.Fatalf("%q became %q", before, text)
		}
		if !json.Valid(text) || !utf8.Valid(text) {
			return
		}
		want, err := JSON(text).Decode()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, decodedBy(text)); diff != "" {
			t.Fatalf("%q: %s", text, diff)
		}
		checkIdentity(t, want, o, newErr)
		checkWithoutManagedFields(t, want, without)
	})
}

func touchEverything(j JSON, depth int) {
	_, _ = j.Text(), j.String()
	if depth == 0 {
		return
	}
	for key, value := range j.Fields() {
		_ = key.Is("a") && key.String() == ""
		touchEverything(value, depth-1)
	}
	for element := range j.Elements() {
		touchEverything(element, depth-1)
	}
}

// checkIdentity compares New with decoded JSON. It knows of no times: an object that has one may be refused.
func checkIdentity(t *testing.T, decoded any, o Object, err error) {
	t.Helper()
	object, _ := decoded.(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	text := func(field string) string { value, _ := metadata[field].(string); return value }
	whole := text("name") != "" && text("uid") != "" && text("resourceVersion") != ""
	switch {
	case err == nil && (!whole || o.Name != text("name") || o.Namespace != text("namespace") || string(o.UID) != text("uid") || o.ResourceVersion != text("resourceVersion")):
		t.Fatalf("the identity of %v is %+v", decoded, o)
	case err == nil && o.Deleting != (metadata["deletionTimestamp"] != nil):
		t.Fatalf("%v: deleting is %v", decoded, o.Deleting)
	}
}
