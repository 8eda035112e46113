// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"testing"
)

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := Thousands(n); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for n, want := range map[int64]string{999: "999", 4123: "4.1k", 99_999: "100.0k", 250_000: "250k"} {
		if got := Short1000(n); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
