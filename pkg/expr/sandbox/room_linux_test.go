// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// TestMakeRoom lets the heap grow, but never by more than it may, and nothing of it counts as used.
func TestMakeRoom(t *testing.T) {
	sizes := func() (total, released int64) {
		samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		metrics.Read(samples)
		return int64(samples[0].Value.Uint64()), int64(samples[1].Value.Uint64())
	}
	debug.FreeOSMemory()
	const slack = 16 << 20
	for _, most := range []int64{0, 64 << 20, 1 << 40} {
		before, released := sizes()
		room := released + 96<<20 // more than what is free already
		makeRoom(int(room), before+most)
		after, releasedNow := sizes()
		grown, want := after-before, min(room, most)
		if grown > want+slack || grown < want-released-slack {
			t.Errorf("with %d bytes left, the heap grew by %d, want %d, of which it had %d", most, grown, want, released)
		}
		if used := after - releasedNow; used > before-released+slack {
			t.Errorf("%d bytes are used, want no more than %d", used, before-released)
		}
	}
}
