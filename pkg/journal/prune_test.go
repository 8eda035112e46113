// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"
	"testing"
	"time"
)

// TestUnsentRecordsHaveALimit: beyond it, the oldest are deleted like any others.
func TestUnsentRecordsHaveALimit(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 0, 1: 0, maxUnsent: 0, maxUnsent + 3: 3} {
		var records []past
		for i := range n { // the oldest first
			records = append(records, past{name: fmt.Sprint(i), nominal: time.Unix(int64(i), 0)})
		}
		history := History{whole: true}
		history.addUnsent(records)
		if len(history.past) != want || history.whole != (n == 0) {
			t.Errorf("of %d, %d may be deleted, want %d; the history is whole: %t", n, len(history.past), want, history.whole)
		}
		for _, record := range history.past {
			if !record.unsent || !record.nominal.Before(time.Unix(int64(want), 0)) {
				t.Errorf("%s may be deleted", record.name)
			}
		}
	}
}
