// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"strings"
	"testing"
)

// TestParts compares every answer of Parts with that of the text itself.
func TestParts(t *testing.T) {
	texts := []string{
		`{"metadata":{"name":"a","labels":{"x":"1"},"annotations":{"y":"2"},"ownerReferences":[{"kind":"A"}],"finalizers":["f"]},"spec":{"a":{"b":1}},"status":{"c":2},"data":{"d":3}}`,
		`{"metadata":{"labels":{"x":"1"},"labels":{"x":"2"}},"spec":{"a":{"b":1}},"spec":{"a":{"b":2}},"metadata":{"labels":{"x":"3"},"annotations":null}}`,
		`{"metadata":{"labels":{"x":"1"}},"metadata":null,"spec":[],"status":"text"}`,
		`{ "meta\u0064ata" : { "label\u0073" : {"x":"1"} } , "spec" : {"a":{"b":[1,2]}} }`, `{}`, `null`, ``,
	}
	paths := []string{
		"metadata", "metadata name", "metadata labels", "metadata labels x", "metadata annotations", "metadata annotations y", "metadata ownerReferences",
		"metadata finalizers", "metadata labels x z", "spec", "spec a", "spec a b", "status", "status c", "data", "data d", "nothing", "spec nothing",
	}
	for _, text := range texts {
		parts := Object{Raw: []byte(text)}.Parts()
		for _, path := range append(paths, "") {
			if got, want := string(parts.At(strings.Fields(path)...)), string(JSON(text).At(strings.Fields(path)...)); got != want {
				t.Errorf("%s at %q: got %q, want %q", text, path, got, want)
			}
		}
	}
}
