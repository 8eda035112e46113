// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// TestGrowHeap lets the heap grow, but never by more than it may, and nothing of it counts as used.
func TestGrowHeap(t *testing.T) {
	sizes := func() (total, released int64) {
		samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		metrics.Read(samples)
		return int64(samples[0].Value.Uint64()), int64(samples[1].Value.Uint64())
	}
	was := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(was)
	const slack = 16 << 20
	for _, most := range []int64{0, 64 << 20, 1 << 40} {
		debug.FreeOSMemory()
		before, released := sizes()
		room := released + 96<<20 // more than there is already
		debug.SetMemoryLimit(before + most)
		growHeap(room)
		after, releasedNow := sizes()
		if grown, want := after-before, min(room, most); grown > want+slack || grown < want-released-slack {
			t.Errorf("with %d bytes left, the heap grew by %d, want %d, of which it had %d", most, grown, want, released)
		}
		if used := after - releasedNow; used > before-released+slack {
			t.Errorf("%d bytes are used, want no more than %d", used, before-released)
		}
	}
}

// TestGrowHeapInsideTheFence looks at many small objects, for whose tables a quarter of the memory is made room, wherever in its address
// space the heap begins.
func TestGrowHeapInsideTheFence(t *testing.T) {
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
