// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/test/testenv"
)

// TestLookAround recommends the page only if it was built: without it, kubectl cleaner dashboard is an error.
func TestLookAround(t *testing.T) {
	for name, pages := range map[string][]*page{"with the page": {{person: "ann"}}, "without it": nil} {
		var out strings.Builder
		s := &stage{t: &terminal{out: &out}, env: &testenv.Env{}, manager: &manager{}, pages: pages}
		s.lookAround()
		if got := strings.Contains(out.String(), "kubectl cleaner dashboard"); got != (pages != nil) {
			t.Errorf("%s: it says\n%s", name, out.String())
		}
		if !strings.Contains(out.String(), "$ kubectl get cleaners\n") {
			t.Errorf("%s: the other commands are missing:\n%s", name, out.String())
		}
	}
}
