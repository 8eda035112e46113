// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"strings"
	"testing"
)

// TestBudgetIsOfAllRuns: the sum is what ends the operator. A large run does not stop small ones, and says what to do when the
// memory is not its own.
func TestBudgetIsOfAllRuns(t *testing.T) {
	const mib = 1 << 20
	b := NewBudget(10 * mib)
	large, second := b.Share(), b.Share()
	if err := large.add(8 * mib); err != nil {
		t.Fatal(err)
	}
	err := second.add(5 * mib)
	const want = "they take 5 MiB of memory, and with what other runs have selected that is more than the 10 MiB of --max-selection-memory: let the Cleaner select fewer objects (with namespace, labelFilters or matchConditions), or write several Cleaners, or let fewer large Cleaners run at once, or raise the flag"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	for range 100 {
		if err := b.Share().add(ownMemory); err != nil {
			t.Errorf("a small run is refused: %v", err)
		}
	}
	second.Release()
	if err := large.add(3 * mib); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	if err := large.add(1); err == nil || !strings.HasPrefix(err.Error(), "they take more than 10 MiB of memory: ") {
		t.Errorf("one that is too large by itself: %v", err)
	}
	if large.Release(); b.used != 0 {
		t.Errorf("%d bytes are still taken", b.used)
	}
	if err := (*Budget)(nil).Share().add(DefaultMaxMemory + ownMemory + 1); err == nil || strings.Contains(err.Error(), "--") {
		t.Errorf("where there is no such flag: %v", err)
	}
}
