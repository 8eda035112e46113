// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import "testing"

func TestIsForLargePages(t *testing.T) {
	for body, want := range map[string]bool{
		`{"major":"1","minor":"33"}`:  true,
		`{"major":"1","minor":"36+"}`: true,
		`{"major":"1","minor":"32"}`:  false,
		`{"major":"1","minor":"9"}`:   false,
		`{"major":"2","minor":"40"}`:  false,
		`{"major":"1","minor":"x"}`:   false,
		`{}`:                          false,
		`not JSON`:                    false,
	} {
		if got := isForLargePages([]byte(body)); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}
