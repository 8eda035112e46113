// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"strconv"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// TestManySmallObjects are as many as are counted for the most memory, wherever in its address space the heap begins.
func TestManySmallObjects(t *testing.T) {
	const count = 34_000
	objects := make([]object.Object, count)
	for i := range objects {
		name := strconv.Itoa(i)
		objects[i] = newObject(t, configMapKind, `{"metadata":{"name":"`+name+`","uid":"`+name+`","resourceVersion":"1"},"data":{"k":"`+strings.Repeat("x", 500)+`"}}`)
	}
	pool := newPool(t, Config{})
	for range 5 {
		s := open(t, pool, Options{})
		a := s.Aggregate(`function evaluate()
			local hs = {resources={}}
			for _, o in ipairs(resources) do if o.data.k ~= nil and o.metadata.name == "7" then table.insert(hs.resources, {resource=o}) end end
			return hs
		end`)
		for _, o := range objects {
			if err := a.Add(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		chosen, err := a.Finish(t.Context())
		if err != nil || len(chosen) != 1 || chosen[0].Object.Name != "7" {
			t.Fatalf("%d chosen, %v; want the one", len(chosen), err)
		}
		s.Close()
	}
}
