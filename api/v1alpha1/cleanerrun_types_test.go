// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"
	"testing"
	"time"
)

// The name of a run is the lock by which it happens once. Nobody may take it by the name of a Cleaner.
func TestNoCleanerTakesTheRunNamesOfAnother(t *testing.T) {
	t.Parallel()
	at := time.Unix(1700000000, 0)
	victims := []string{strings.Repeat("a", 253), strings.Repeat("nightly-cleanup-", 4), strings.Repeat("a", 53), strings.Repeat("a.", 30) + "a"}
	for _, victim := range victims {
		name := RunName(victim, at)
		if len(name) > 63 || !strings.HasSuffix(name, "-1700000000") {
			t.Errorf("%s has the run %s", victim, name)
		}
		// A Cleaner that is called as the short name, and one called as the short name of that, and so on.
		taken := map[string]string{name: victim}
		for attacker := strings.TrimSuffix(name, "-1700000000"); len(taken) < 5; {
			got := RunName(attacker, at)
			if taken[got] != "" {
				t.Fatalf("%s and %s both have the run %s", taken[got], attacker, got)
			}
			if len(got) > 63 {
				t.Errorf("%s has the run %s", attacker, got)
			}
			taken[got] = attacker
			attacker = strings.TrimSuffix(got, "-1700000000")
		}
	}
	for _, name := range []string{"nightly", strings.Repeat("a", 52), "web-5d8f9c7b6d"} {
		if got := RunName(name, at); got != name+"-1700000000" {
			t.Errorf("%s has the run %s", name, got)
		}
	}
}
