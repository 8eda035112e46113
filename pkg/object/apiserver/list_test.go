// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func scan(text string) ([]string, ListMeta, error) { return scanFrom(strings.NewReader(text)) }

func scanFrom(r io.Reader) ([]string, ListMeta, error) {
	var items []string
	meta, err := ScanList(r, func(raw []byte) error {
		items = append(items, string(raw))
		return nil
	})
	return items, meta, err
}

func TestScanList(t *testing.T) {
	meta := ListMeta{ResourceVersion: "7", Continue: "next", Remaining: ptr.To[int64](3)}
	seven := ListMeta{ResourceVersion: "7"}
	const metadata = `"metadata":{"resourceVersion":"7","continue":"next","remainingItemCount":3}`
	tests := map[string]struct {
		text  string
		items []string
		meta  ListMeta
	}{
		"built-in kinds send metadata first": {`{"kind":"PodList","apiVersion":"v1",` + metadata + `,"items":[{"a":1},{"a":2}]}` + "\n", []string{`{"a":1}`, `{"a":2}`}, meta},
		"custom resources send items first":  {`{"apiVersion":"v1","items":[{"a":1}],"kind":"XList",` + metadata + `}`, []string{`{"a":1}`}, meta},
		"bytes stay as they are":             {`{"items":[ {"n": 12345678901234567890, "e": [], "s":"\u00e9]}"} ],"metadata":{"resourceVersion":"7"}}`, []string{`{"n": 12345678901234567890, "e": [], "s":"\u00e9]}"}`}, seven},
		"no items":                           {`{"metadata":{"resourceVersion":"7"},"items":[]}`, nil, seven},
		"null items":                         {`{"metadata":{"resourceVersion":"7"},"items":null}`, nil, seven},
		"null in the metadata":               {`{"metadata":{"resourceVersion":"7","continue":null,"remainingItemCount":null},"items":[]}`, nil, seven},
		"keys with escapes":                  {`{"m\u0065tadata":{"resourceVersi\u006fn":"\u0037"},"\u0069tems":[{}]}`, []string{`{}`}, seven},
		"names that differ in case":          {`{"Items":1,"Metadata":1,"metadata":{"ResourceVersion":"8","resourceVersion":"7"},"items":[]}`, nil, seven},
		"a list kind named Status":           {`{"kind":"Status","metadata":{"resourceVersion":"7"},"items":[{}]}`, []string{`{}`}, seven},
		"unknown fields":                     {`{"x":{"items":[1]},"y":[[{}]],"z":null,"metadata":{"resourceVersion":"7"},"items":[{}],"message":{}}`, []string{`{}`}, seven},
		"names twice inside an item":         {`{"metadata":{"resourceVersion":"7"},"items":[{"a":1,"a":2}]}`, []string{`{"a":1,"a":2}`}, seven},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"whole": strings.NewReader(test.text), "byte by byte": iotest.OneByteReader(strings.NewReader(test.text)),
				"the end together with bytes": iotest.DataErrReader(strings.NewReader(test.text)),
			} {
				items, meta, err := scanFrom(r)
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				if diff := cmp.Diff(test.items, items); diff != "" {
					t.Error(how, diff)
				}
				if diff := cmp.Diff(test.meta, meta); diff != "" {
					t.Error(how, diff)
				}
			}
		})
	}
}

func TestScanListRefusesWhatIsNoList(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"an array":               {`[]`, "the response is not a list: it is a list, not a map"},
		"a string":               {`"x"`, "the response is not a list: it is a string, not a map"},
		"a Status":               {`{"kind":"Status","metadata":{},"status":"Failure","message":"too \"old\"","code":410}`, `the server sent a Status in place of the list: "too \"old\""`},
		"a Status of few words":  {`{"kind":"Status"}`, `the server sent a Status in place of the list: ""`},
		"a Status of many words": {`{"kind":"Status","message":"` + strings.Repeat("x", 10000) + `"}`, `of the list: "` + strings.Repeat("x", 512) + `"`},
		"no metadata":            {`{"items":[]}`, "the response is not a list: it has no metadata or no items"},
		"no items":               {`{"kind":"PodList","metadata":{}}`, "the response is not a list: it has no metadata or no items"},
		"null metadata":          {`{"metadata":null,"items":[]}`, "the response is not a list: its metadata is null"},
		"metadata is a list":     {`{"metadata":[],"items":[]}`, "the response is not a list: its metadata is a list"},
		"metadata twice":         {`{"metadata":{},"metadata":{},"items":[]}`, "the response is not a list: it has metadata twice"},
		"items twice":            {`{"metadata":{},"items":null,"items":[]}`, "the response is not a list: it has items twice"},
		"items is a map":         {`{"metadata":{},"items":{}}`, "the response is not a list: its items are a map"},
		"items is a string":      {`{"metadata":{},"items":"x"}`, "the response is not a list: its items are a string"},
		"an item is null":        {`{"metadata":{},"items":[{},null]}`, "the response is not a list of objects: item 2 is null"},
		"an item is a number":    {`{"metadata":{},"items":[7]}`, "the response is not a list of objects: item 1 is a number"},
		"continue is a number":   {`{"metadata":{"continue":1},"items":[]}`, "in its metadata, continue is a number, not a string"},
		"resourceVersion too":    {`{"metadata":{"resourceVersion":1},"items":[]}`, "in its metadata, resourceVersion is a number, not a string"},
		"a count in words":       {`{"metadata":{"remainingItemCount":"1"},"items":[]}`, "in its metadata, remainingItemCount is a string, not a number"},
		"half an object":         {`{"metadata":{"remainingItemCount":0.5},"items":[]}`, "in its metadata, remainingItemCount is not an integer"},
		"HTML":                   {`<html>`, "the response is not well-formed JSON: "},
		"an item is not JSON":    {`{"metadata":{},"items":[{"a":01}]}`, "item 1: the response is not well-formed JSON: "},
		"a comma too many":       {`{"metadata":{},"items":[{},]}`, "the response is not well-formed JSON: "},
		"a comma too few":        {`{"metadata":{},"items":[{}{}]}`, "the response is not well-formed JSON: "},
		"the wrong bracket":      {`{"metadata":{},"items":[{}}]`, "the response is not well-formed JSON: "},
		"no UTF-8":               {`{"metadata":{},"items":[{"a":"` + "\xff" + `"}]}`, "item 1: the response is not well-formed JSON: "},
		"half a surrogate pair":  {`{"metadata":{},"items":[{"a":"\ud800"}]}`, "item 1: the response is not well-formed JSON: "},
		"too deep":               {`{"metadata":{},"items":[{"a":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}]}`, "item 1: the response is not well-formed JSON: "},
		"one bracket too many":   {`{"metadata":{},"items":[]}}`, "after the end of the list: the response is not well-formed JSON: "},
		"another list":           {`{"metadata":{},"items":[]} {}`, "the response goes on after the end of the list"},
		"a Status behind it":     {`{"metadata":{},"items":[]}{"kind":"Status"}`, "the response goes on after the end of the list"},
	} {
		t.Run(name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{"whole": strings.NewReader(test.text), "byte by byte": iotest.OneByteReader(strings.NewReader(test.text))} {
				_, meta, err := scanFrom(r)
				if err == nil || !strings.Contains(err.Error(), test.want) || meta != (ListMeta{}) {
					t.Errorf("%s: %v (%+v), want %q", how, err, meta, test.want)
				}
			}
		})
	}
}

// A cut list never looks like a short one, wherever it is cut.
func TestScanListNoticesEveryCut(t *testing.T) {
	pods, err := io.ReadAll(listOf(samplePod(t), 2))
	if err != nil {
		t.Fatal(err)
	}
	for _, whole := range []string{
		string(pods),
		`{"kind":"L","metadata":{"resourceVersion":"1"},"items":[{"a":{"b":[1,2]}},{"c":"x\"y"}]}`,
		`{"items":[{"é":"日本\u00e9\ud83d\ude00\\"}, {"t":true,"f":false,"n":null,"x":-12.5e+7} ],"metadata":{"remainingItemCount":12}}`,
		"{\n  \"metadata\": {},\n  \"items\": null,\n  \"unknown\": [[{}], \"x\", 1]\n}",
		`{"kind":"Status","metadata":{},"message":"no"}`,
	} {
		if _, _, err := scan(whole); err != nil && !strings.Contains(whole, "Status") {
			t.Fatal(err)
		}
		for n := range whole {
			if _, _, err := scan(whole[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("cut after %q: %v", whole[:n], err)
			}
		}
	}
}

func TestScanListNamesTheFaultOfTheConnection(t *testing.T) {
	const whole = `{"metadata":{},"items":[{"a":1}]}`
	fault := errors.New("connection reset")
	for n := range len(whole) + 1 {
		for how, broken := range map[string]io.Reader{
			"alone": iotest.ErrReader(fault), "together with bytes": &lastWords{text: whole[:n], err: fault},
		} {
			r := broken
			if how == "alone" {
				r = io.MultiReader(strings.NewReader(whole[:n]), broken)
			}
			if _, _, err := scanFrom(r); !errors.Is(err, fault) || !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "the response broke off: connection reset") {
				t.Errorf("after %q, %s: %v", whole[:n], how, err)
			}
		}
	}
	_, _, err := scanFrom(io.MultiReader(strings.NewReader(whole[:20]), iotest.ErrReader(context.Canceled)))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// As of a compressed response that lacks its checksum.
	if _, _, err := scanFrom(&lastWords{text: whole, err: io.ErrUnexpectedEOF}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut behind the last bracket: %v", err)
	}
}

// lastWords gives its error once, together with the text, as an io.Reader may, and then only says that it is at the end.
type lastWords struct {
	text string
	err  error
}

func (l *lastWords) Read(p []byte) (int, error) {
	n := copy(p, l.text)
	if l.text = l.text[n:]; l.text != "" {
		return n, nil
	}
	err := l.err
	l.err = io.EOF
	return n, err
}

func TestScanListReadsToTheEnd(t *testing.T) {
	r := strings.NewReader(`{"metadata":{},"items":[]}` + strings.Repeat("\n", 100_000))
	if _, _, err := scanFrom(r); err != nil || r.Len() != 0 {
		t.Errorf("%d bytes are left, so the connection cannot be used again: %v", r.Len(), err)
	}
}

func TestScanListStopsWhenAsked(t *testing.T) {
	stop := errors.New("stop")
	_, err := ScanList(strings.NewReader(`{"metadata":{},"items":[{},{}]}`), func([]byte) error { return stop })
	if err != stop { //nolint:errorlint // the error as it is, not wrapped
		t.Fatal(err)
	}
}

// Appending to an item must not write over the next one.
func TestScanListYieldsBytesWithoutRoom(t *testing.T) {
	var items []string
	_, err := ScanList(strings.NewReader(`{"metadata":{},"items":[{"a":1},{"a":2}]}`), func(raw []byte) error {
		items = append(items, string(raw))
		_ = append(raw, `,"broken`...)
		return nil
	})
	if diff := cmp.Diff([]string{`{"a":1}`, `{"a":2}`}, items); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// What passes is a list to encoding/json as well, with the same items, byte by byte.
func FuzzScanList(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"resourceVersion":"1"},"items":[{"a":1}]}`, `{"items":null,"metadata":{}}`, `{"items":[{},{"a":[{}]}],"metadata":{"remainingItemCount":1}} `,
		`{"metadata":{},"items":[{"\u0061":"\ud83d\ude00\\\""}]}`, `{"metadata":{},"items":[],"items":[]}`, `{"kind":"Status","message":"x"}`, `{"metadata":{},"items":[1,null]}`,
		"{\"metadata\":{},\"items\":[\t{ }\r\n]}x", `{"metadata":{},"Items":[],"items":[{"a":1e400}]}`, "{\"metadata\":{},\"items\":[{\"\xff\":1}]}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		items, meta, err := scan(text)
		slowItems, slowMeta, slowErr := scanFrom(iotest.OneByteReader(strings.NewReader(text)))
		if diff := cmp.Diff(items, slowItems) + cmp.Diff(meta, slowMeta); diff != "" || (err == nil) != (slowErr == nil) {
			t.Fatalf("byte by byte %q differs: %v, %v %s", text, err, slowErr, diff)
		}
		if err != nil {
			return
		}
		var fields, metadata map[string]json.RawMessage // not a struct, whose fields match names in any case
		var raws []json.RawMessage
		if err := errors.Join(json.Unmarshal([]byte(text), &fields), json.Unmarshal(fields["items"], &raws), json.Unmarshal(fields["metadata"], &metadata)); err != nil {
			t.Fatalf("%q passes, but: %v", text, err)
		}
		var want []string
		for _, raw := range raws {
			want = append(want, string(raw))
		}
		var token string
		if raw, ok := metadata["continue"]; ok && json.Unmarshal(raw, &token) != nil {
			t.Fatalf("%q passes, but continue is %s", text, raw)
		}
		if diff := cmp.Diff(want, items) + cmp.Diff(token, meta.Continue); diff != "" {
			t.Fatalf("the list of %q: %s", text, diff)
		}
	})
}

// Random items come out of a list as they went in.
func TestScanListYieldsRandomItems(t *testing.T) {
	for seed := range int64(300) {
		var want []string
		for i := range seed % 5 {
			item, err := json.Marshal(randomly[corev1.Pod](seed*5+i, 0.8))
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, string(item))
		}
		got, _, err := scan(`{"metadata":{}, "items" :[ ` + strings.Join(want, " ,\n") + ` ]}`)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("seed %d: %v %s", seed, err, diff)
		}
	}
}
