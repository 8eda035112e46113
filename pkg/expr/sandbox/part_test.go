// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// leaking reads obj.status of every object whose replicas are 1, in a way that its text does not show: see lua/part_test.go.
const leaking = `function evaluate()
	local f, l
	while true do do local a, b, c, d, e, g, h local x = 1 f = function() return x end break end end
	do local a, b, c, d, e, g, h l = obj.spec end
	if l.replicas ~= 1 then return {matching = false, message = "not read"} end
	return {matching = f().status == nil, message = "read"}
end`

func partly(t *testing.T, i int) object.Object {
	return newObject(t, configMapKind, fmt.Sprintf(
		`{"metadata":{"namespace":"default","name":"o%d","uid":"u%d","resourceVersion":"1"},"spec":{"replicas":%d},"status":{"pad":%q}}`,
		i, i, i%100/70, strings.Repeat("x", 3000)))
}

// TestScriptThatReadsMoreGetsTheWholeObject: were it to judge by the part that its text shows, it would match.
func TestScriptThatReadsMoreGetsTheWholeObject(t *testing.T) {
	s := open(t, newPool(t, Config{}), Options{})
	next := 0
	stream := s.Stream(leaking, func(j Judged) error {
		want := "not read"
		if next%100/70 == 1 {
			want = "read"
		}
		if j.Object.Name != fmt.Sprint("o", next) || j.Err != nil || j.Matching || j.Message != want {
			t.Errorf("object %d: got %s: %t, %q, %v", next, j.Object.Name, j.Matching, j.Message, j.Err)
		}
		next++
		return nil
	})
	const n = 400 // several batches
	for i := range n {
		if err := stream.Add(t.Context(), partly(t, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Finish(t.Context()); err != nil || next != n {
		t.Errorf("%d of %d were judged: %v", next, n, err)
	}
}

// Where there is no more of an object than its metadata, it cannot be judged.
func TestScriptThatReadsMoreThanMetadataIsAnError(t *testing.T) {
	source := strings.ReplaceAll(strings.ReplaceAll(leaking, "obj.spec", "obj.metadata"), "l.replicas ~= 1", "l.name ~= 'o7'")
	p := newPool(t, Config{})
	if only, err := p.ReadsMetadataOnly(t.Context(), source); err != nil || !only {
		t.Fatalf("reads metadata only: %t, %v; another script is needed", only, err)
	}
	failed := 0
	stream := open(t, p, Options{}).Stream(source, func(j Judged) error {
		if j.Matching {
			t.Errorf("%s matches", j.Object)
		}
		if j.Err != nil {
			failed++
			if !strings.Contains(j.Err.Error(), "Write function evaluate(obj)") {
				t.Errorf("%s: %v", j.Object, j.Err)
			}
		}
		return nil
	})
	stream.MetadataOnly = true
	for i := range 10 {
		o := partly(t, i)
		o.Raw = object.Part{Narrow: true, Fields: []string{"metadata"}, ManagedFields: true}.Append(nil, o.Raw)
		if err := stream.Add(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Finish(t.Context()); err != nil || failed == 0 {
		t.Errorf("%d objects failed: %v", failed, err)
	}
}
