// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// TestMembers: after any Truncate, what is added stands behind what was kept.
func TestMembers(t *testing.T) {
	kinds := []object.Kind{configMapKind, {Resource: "pods"}}
	for _, kept := range []int{0, 1, membersPerBlock - 1, membersPerBlock, membersPerBlock + 1, 2 * membersPerBlock, 3*membersPerBlock - 1} {
		var m members
		add := func(round, i int) {
			m.add(object.Object{Kind: kinds[i/700%2], Name: fmt.Sprint(round, i)}, make([]byte, i))
		}
		for i := range 3 * membersPerBlock {
			add(1, i)
		}
		m.truncate(kept)
		for i := kept; i < 3*membersPerBlock+1; i++ {
			add(2, i)
		}
		size := int64(0)
		for i := range m.count {
			round := 2
			if i < kept {
				round = 1
			}
			if one := m.at(i).object(nil); one.Name != fmt.Sprint(round, i) || one.Kind != kinds[i/700%2] {
				t.Fatalf("kept %d: member %d is %s", kept, i, one)
			}
			size += int64(i)
		}
		if m.count != 3*membersPerBlock+1 || m.size != size {
			t.Errorf("kept %d: %d members of %d bytes, want %d of %d", kept, m.count, m.size, 3*membersPerBlock+1, size)
		}
	}
}
