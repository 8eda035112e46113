// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

const (
	// notSlow is how much memory is for runs that are not known to be slow, in bytes.
	notSlow = 352 << 20
	// defaultScriptMemory is --max-script-memory where it is not set, and minScriptMemory the least that it can be.
	defaultScriptMemory, minScriptMemory = 768 << 20, 384 << 20
	// maxNeeds is of how many Cleaners it is remembered that they need more.
	maxNeeds = 10_000
)

// scriptMemory says how much memory the scripts of each run may use, and divides what there is.
type scriptMemory struct {
	rooms executor.Rooms
	// classes are how much a run may use, the smallest first: as many small ones as there are workers by default fit into
	// what there is by default; then what fits into the quick lane's own room; and what fits into the largest room, beside
	// a small one that takes long.
	classes [3]int64
	// needs are the classes of the Cleaners' last runs, by Cleaner and generation, where that is not the first one.
	needs *lru.Cache
}

// divide gives slow runs a third of the workers and all memory but notSlow, or four ninths of it. Of the rest, two
// thirds are for runs of which nothing is known yet, and one is for those that are known to be quick.
func divide(workers int, memory int64) *scriptMemory {
	memory -= sandbox.CompilerMemory + sandbox.SecondMemory
	others, quicker := workers-max(1, workers/3), min(notSlow, memory*5/9)
	m := &scriptMemory{needs: lru.New(maxNeeds), rooms: executor.Rooms{
		executor.LaneSlow:    {Workers: workers - others, Weight: memory - quicker},
		executor.LaneUnknown: {Workers: others * 2 / 3, Weight: quicker * 2 / 3},
		executor.LaneQuick:   {Workers: others - others*2/3, Weight: quicker - quicker*2/3},
	}}
	m.classes = [...]int64{
		sandbox.SmallMemory,
		m.rooms[executor.LaneQuick].Weight,
		m.rooms[executor.LaneSlow].Weight - sandbox.SmallMemory,
	}
	return m
}

// most is the most that any run may have.
func (m *scriptMemory) most() int64 { return m.classes[len(m.classes)-1] }

// of is how much the next run of a Cleaner may use.
func (m *scriptMemory) of(cleaner *v1alpha1.Cleaner) int64 {
	known, _ := m.needs.Get(cleanerKey(cleaner.UID, cleaner.Generation))
	if class, ok := known.(int64); ok {
		return class
	}
	return m.classes[0]
}

// outgrown takes note that so much was not enough for a run, and returns how much more it may have.
func (m *scriptMemory) outgrown(run *v1alpha1.CleanerRun, had int64) int64 {
	for _, class := range m.classes {
		if class > had {
			m.needs.Add(cleanerKey(run.Spec.CleanerUID, run.Spec.CleanerGeneration), class)
			return class
		}
	}
	return had
}

// cleanerKey names a Cleaner as it is: what is known of its scripts is forgotten when it is edited.
func cleanerKey(uid types.UID, generation int64) string { return fmt.Sprintf("%s/%d", uid, generation) }
