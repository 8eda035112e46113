// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import "testing"

// TestNextAfterNull: a field whose value is null does not exist, so next finds nothing after it. gopher-lua comes to this
// in "for k in next, obj.a do", where it takes the name "a" for the first key.
func TestNextAfterNull(t *testing.T) {
	const raw = `{"metadata":{"name":"b"},"a":{"A":true,"B":"","a":null,"c":true},"list":[null,1]}`
	for _, body := range []string{
		`for k, v in next, o.a do note(k, v) end`,
		`note(pcall(next, o.a, "a")) note(pcall(next, o.a, "b")) note(pcall(next, o.a, "A"))`,
		`note(pcall(next, o.list, 1)) note(pcall(next, o.list, 2)) note(pcall(next, o.list, 3))`,
	} {
		compareAll(t, drawn{source: prelude + "function evaluate(o)\n" + body + "\nreturn {}\nend\n", function: "evaluate", items: []string{raw}})
	}
}
