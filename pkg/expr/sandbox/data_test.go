// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Each object has its own data, over many batches, and is handed back without it.
func TestDataGoesWithItsObject(t *testing.T) {
	const source = `function evaluate()
		return {matching = true, message = obj.metadata.name .. " " .. events[1].reason .. " " .. #events[1].message}
	end`
	s := open(t, newPool(t, Config{}), Options{})
	long := strings.Repeat("x", 10_000)
	const n = 200 // 2 MB, which is several batches
	data := func(i int) object.JSON {
		return object.JSON(fmt.Sprintf(`{"events":[{"reason":"r%d","message":%q}]}`, i, long[:i]))
	}
	next := 0
	stream := s.Stream(source, func(j Judged) error {
		want := fmt.Sprintf("o%d r%d %d", next, next, next)
		if name := object.JSON(j.Object.Raw).At("metadata", "name").Text(); j.Err != nil || j.Message != want || name != fmt.Sprintf("o%d", next) {
			t.Errorf("object %s: the script says %q, %v, want %q", name, j.Message, j.Err, want)
		}
		next++
		return nil
	})
	for i := range n {
		if err := stream.AddWith(t.Context(), configMap(t, fmt.Sprintf("o%d", i), long), data(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Finish(t.Context()); err != nil || next != n {
		t.Fatalf("%d of %d were judged, %v", next, n, err)
	}
	match, err := s.EvaluateWith(t.Context(), source, configMap(t, "one", ""), data(7))
	if err != nil || match.Message != "one r7 7" {
		t.Errorf("the script says %q, %v", match.Message, err)
	}
	tooMuch := object.JSON(`{"logs":"` + strings.Repeat("x", maxData) + `"}`)
	want := fmt.Sprintf("what goes with an object to its script is %d bytes long, the limit is %d", len(tooMuch), maxData)
	if _, err := s.EvaluateWith(t.Context(), source, configMap(t, "one", ""), tooMuch); err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}
