// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import "testing"

// A manager serves probes and metrics: the same address for both makes one answer for the other.
func TestNoAddressIsGivenTwice(t *testing.T) {
	given := map[string]bool{}
	for range 3000 {
		address, err := FreeAddress(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if given[address] {
			t.Fatalf("%s was given twice", address)
		}
		given[address] = true
	}
}
