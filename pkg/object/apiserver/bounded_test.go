// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

// endless repeats a byte, and counts how often.
type endless struct {
	char byte
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	copy(p, bytes.Repeat([]byte{e.char}, len(p)))
	e.read += len(p)
	return len(p), nil
}

func TestScanListBoundsWhatItReadsAtATime(t *testing.T) {
	for name, test := range map[string]struct {
		before string
		char   byte
		want   string
	}{
		"an item":               {`{"metadata":{},"items":[{},{"a":"`, 'x', "item 2: it is larger than 8 MiB"},
		"space before an item":  {`{"metadata":{},"items":[{},`, ' ', "item 2: it is larger than 8 MiB"},
		"the metadata":          {`{"metadata":{"continue":"`, 'x', "it is larger than 8 MiB"},
		"a name":                {`{"`, 'x', "it is larger than 8 MiB"},
		"an unknown field":      {`{"x":["`, 'x', "it is larger than 8 MiB"},
		"space before the list": {``, '\n', "it is larger than 8 MiB"},
		"space behind the list": {`{"metadata":{},"items":[]}`, '\n', "after the end of the list: it is larger than 8 MiB"},
		"depth without an end":  {`{"metadata":{},"items":[{"a":`, '[', "item 1: the response is not well-formed JSON"},
		"an endless number":     {`{"metadata":{},"items":[{"a":1`, '0', "item 1: it is larger than 8 MiB"},
		"a control character":   {`{"items":[{"a":"`, 0, "item 1: the response is not well-formed JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			tail := &endless{char: test.char}
			_, _, err := scanFrom(io.MultiReader(strings.NewReader(test.before), tail))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if tail.read > maxItem {
				t.Errorf("%d bytes were read", tail.read)
			}
		})
	}
}

func TestScanListReadsLargeItems(t *testing.T) {
	const around = len(`,{"a":""}`)
	list := func(size int) io.Reader {
		item := `{"a":"` + strings.Repeat("x", size-around) + `"}`
		return strings.NewReader(`{"metadata":{},"items":[{},` + item + `,` + item + `,{}]}`)
	}
	if items, _, err := scanFrom(list(maxItem)); err != nil || len(items) != 4 {
		t.Errorf("of the greatest size: %d items, %v", len(items), err)
	}
	if _, _, err := scanFrom(list(maxItem + 1)); !errors.Is(err, errTooLarge) {
		t.Errorf("one byte larger: %v", err)
	}
}

// Memory does not grow with the list.
func TestScanListKeepsNothing(t *testing.T) {
	const total = 16 << 20
	pod := samplePod(t)
	n := total / len(pod)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	seen := 0
	_, err := ScanList(listOf(pod, n), func(raw []byte) error {
		if seen++; !bytes.Equal(raw, pod) {
			return errors.New("an item differs")
		}
		return nil
	})
	runtime.ReadMemStats(&after)
	if err != nil || seen != n {
		t.Fatalf("%d of %d items: %v", seen, n, err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 256<<10 { // what is never allocated cannot stay either
		t.Errorf("scanning %d MiB allocated %d bytes", total>>20, grown)
	}
}
