// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// walkedBy is decodedBy for a reader that reads once. What it skips is missing from the answer.
func walkedBy(rest JSON, skip func() bool) (value any, read int) {
	switch {
	case skip():
		return "skipped", 0
	case rest.Type() == Map:
		fields := map[string]any{}
		read = rest.WalkFields(func(key Key, rest JSON) (n int) {
			fields[key.String()], n = walkedBy(rest, skip)
			return n
		})
		return fields, read
	case rest.Type() == List:
		list := []any{}
		read = rest.WalkElements(func(rest JSON) int {
			element, n := walkedBy(rest, skip)
			list = append(list, element)
			return n
		})
		return list, read
	case rest.Type() == String:
		return rest.Text(), 0
	}
	end := skipScalar(rest, skipSpace(rest, 0))
	switch text := rest[:end].String(); text {
	case "true", "false":
		return text == "true", 0
	case "null":
		return nil, 0
	default:
		return json.Number(text), 0
	}
}

// Reading once gives what decoding gives, whatever stands behind the value; and what is skipped changes nothing of what stands behind it.
func TestJSONWalksOnce(t *testing.T) {
	for seed := range uint64(1500) {
		text := randomJSON(seed)
		want, err := text.Decode()
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, text, err)
		}
		for _, behind := range []string{"", `,"x":{}`, "]", "}"} {
			got, read := walkedBy(append([]byte(text.String()), behind...), func() bool { return false })
			if diff := cmp.Diff(want, got); diff != "" || read != 0 && read != len(text.String()) {
				t.Fatalf("seed %d: %s: %d read of %d: %s", seed, text, read, len(text), diff)
			}
		}
		random := rand.New(rand.NewPCG(seed, 2))
		if _, read := walkedBy(text, func() bool { return random.IntN(4) == 0 }); read != 0 && read != len(text) && text[read:].Type() != Absent {
			t.Fatalf("seed %d: %d read of %s", seed, read, text)
		}
	}
}

// FuzzJSONWalk reads what need be no JSON: without a panic, and to an end.
func FuzzJSONWalk(f *testing.F) {
	for _, seed := range []string{``, `{`, `{"a"`, `{"a":[`, `[1,,]`, `[}`, `{]`, `[[[`, `{"a":1}{`, `["\`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, read := walkedBy(text, func() bool { return false }); read > len(text) {
			t.Fatalf("%d read of %q", read, text)
		}
	})
}
