// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
)

func scan(text string) ([]string, ListMeta, error) {
	var items []string
	meta, err := ScanList(strings.NewReader(text), func(raw []byte) error {
		items = append(items, string(raw))
		return nil
	})
	return items, meta, err
}

func TestScanList(t *testing.T) {
	meta := ListMeta{ResourceVersion: "7", Continue: "next", Remaining: ptr.To[int64](3)}
	const metadata = `"metadata":{"resourceVersion":"7","continue":"next","remainingItemCount":3}`
	tests := map[string]struct {
		text  string
		items []string
		meta  ListMeta
	}{
		"built-in kinds send metadata first": {`{"kind":"PodList","apiVersion":"v1",` + metadata + `,"items":[{"a":1},{"a":2}]}`, []string{`{"a":1}`, `{"a":2}`}, meta},
		"custom resources send items first":  {`{"apiVersion":"v1","items":[{"a":1}],"kind":"XList",` + metadata + `}`, []string{`{"a":1}`}, meta},
		"bytes stay as they are":             {`{"items":[ {"n": 12345678901234567890, "e": [], "s":"\u00e9]}"} ],"metadata":{"resourceVersion":"7"}}`, []string{`{"n": 12345678901234567890, "e": [], "s":"\u00e9]}"}`}, ListMeta{ResourceVersion: "7"}},
		"no items":                           {`{"metadata":{"resourceVersion":"7"},"items":[]}`, nil, ListMeta{ResourceVersion: "7"}},
		"null items":                         {`{"metadata":{"resourceVersion":"7"},"items":null}`, nil, ListMeta{ResourceVersion: "7"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			items, meta, err := scan(test.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.items, items); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.meta, meta); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScanListRefusesWhatIsNoList(t *testing.T) {
	for name, text := range map[string]string{
		"an array": `[]`, "a Status": `{"kind":"Status","metadata":{}}`, "no metadata": `{"items":[]}`,
		"items is an object": `{"metadata":{},"items":{}}`, "HTML": `<html>`,
	} {
		if _, _, err := scan(text); err == nil {
			t.Errorf("%s passes for a list", name)
		}
	}
}

// A cut list never looks like a short one, wherever it is cut.
func TestScanListNoticesEveryCut(t *testing.T) {
	const whole = `{"kind":"L","metadata":{"resourceVersion":"1"},"items":[{"a":{"b":[1,2]}},{"c":"x\"y"}]}`
	if _, _, err := scan(whole); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, _, err := scan(whole[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut after %q: %v", whole[:n], err)
		}
	}
}

func TestScanListStopsWhenTold(t *testing.T) {
	stop := errors.New("stop")
	_, err := ScanList(strings.NewReader(`{"metadata":{},"items":[{},{}]}`), func([]byte) error { return stop })
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
}

func FuzzScanList(f *testing.F) {
	f.Add(`{"metadata":{"resourceVersion":"1"},"items":[{"a":1}]}`)
	f.Add(`{"items":null,"metadata":{}}`)
	f.Fuzz(func(t *testing.T, text string) {
		items, _, err := scan(text)
		if err != nil {
			return
		}
		// What passes ends where it says: without its last brace it is cut.
		if end := strings.LastIndexByte(text, '}'); end >= 0 {
			if _, _, err := scan(text[:end]); err == nil && !strings.Contains(text[end:], "{") {
				t.Fatalf("%q passes without its end, %d items", text, len(items))
			}
		}
	})
}
