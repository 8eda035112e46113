// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

// TestDivide: nothing is lost, each lane's own room has room for a run of its own, and the largest for the largest run beside a small one.
func TestDivide(t *testing.T) {
	mib := func(n int64) int64 { return n << 20 }
	for memory, want := range map[int64][2][3]int64{ // in MiB: rooms and classes
		768: {{328, 234, 118}, {24, 117, 304}}, 2048: {{1608, 234, 118}, {24, 117, 1584}}, 384: {{131, 109, 55}, {24, 54, 107}},
	} {
		m := divide(20, mib(memory))
		var got [2][3]int64
		sum := int64(sandbox.CompilerMemory + sandbox.SecondMemory)
		for lane, room := range m.rooms {
			got[0][lane], got[1][lane] = room.Weight>>20, m.classes[lane]>>20
			sum += room.Weight
		}
		got[0][executor.LaneQuick] = (m.rooms[executor.LaneQuick].Weight + 1<<20 - 1) >> 20
		if diff := cmp.Diff(want, got); diff != "" || sum != mib(memory) {
			t.Errorf("%d MiB: %d MiB in all, %s", memory, sum>>20, diff)
		}
	}
	for workers, want := range map[int][3]int{1: {1, 0, 0}, 2: {1, 0, 1}, 3: {1, 1, 1}, 4: {1, 2, 1}, 10: {3, 4, 3}, 20: {6, 9, 5}} {
		rooms := divide(workers, defaultScriptMemory).rooms
		if got := [...]int{rooms[0].Workers, rooms[1].Workers, rooms[2].Workers}; got != want {
			t.Errorf("%d workers: %v, want %v", workers, got, want)
		}
	}
	if m := divide(20, defaultScriptMemory); m.most() != sandbox.DefaultMaxMemory {
		t.Errorf("by default a run may have %d, and elsewhere %d", m.most(), sandbox.DefaultMaxMemory)
	}
}

// TestNeeds: a run that outgrows its class has the next one, and its Cleaner from then on, until it is edited.
func TestNeeds(t *testing.T) {
	m := divide(20, defaultScriptMemory)
	cleaner := &v1alpha1.Cleaner{}
	cleaner.UID, cleaner.Generation = "one", 3
	run := &v1alpha1.CleanerRun{Spec: v1alpha1.CleanerRunSpec{CleanerUID: "one", CleanerGeneration: 3}}
	for _, class := range m.classes {
		if got := m.of(cleaner); got != class {
			t.Errorf("it has %d, want %d", got, class)
		}
		if next := m.outgrown(run, class); class == m.most() && next != class || class != m.most() && next <= class {
			t.Errorf("after %d it has %d", class, next)
		}
	}
	cleaner.Generation++
	if got := m.of(cleaner); got != m.classes[0] {
		t.Errorf("after an edit it has %d", got)
	}
}
