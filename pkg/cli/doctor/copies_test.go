// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import "testing"

// An amount of bytes has its unit, also one that is no round number.
func TestInBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 bytes", 1023: "1023 bytes", 1352: "1.3Ki", 300 << 20: "300Mi", 256<<20 + 1: "256Mi", 3 << 40: "3072Gi",
	} {
		if got := inBytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
