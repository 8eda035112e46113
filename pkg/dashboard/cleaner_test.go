// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"testing"
	"time"
)

func TestDaysOrHours(t *testing.T) {
	for d, want := range map[time.Duration]string{
		24 * time.Hour: "1 day", 36 * time.Hour: "36 hours", 90 * time.Second: "1m30s",
	} {
		if got := daysOrHours(d); got != want {
			t.Errorf("%s is %q", d, got)
		}
	}
}
