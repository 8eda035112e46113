// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"fmt"
	"testing"
)

// TestRestoredText: the Event of a restore names up to three objects.
func TestRestoredText(t *testing.T) {
	plan := &RestorePlan{Run: "a-1", Objects: []RestoredObject{{Kind: "Secret", Namespace: "shop", Name: "x", Outcome: "Exists"}}}
	for _, want := range []string{
		"restored 0 objects of run a-1", "restored 1 object of run a-1: Node c0", "", "", "restored 4 objects of run a-1: Node c0, Node c1, Node c2 and 1 more",
	} {
		if got := restoredText(plan); want != "" && got != want {
			t.Errorf("%q, want %q", got, want)
		}
		plan.Objects = append(plan.Objects, RestoredObject{Kind: "Node", Name: fmt.Sprint("c", len(plan.Objects)-1), Outcome: "Restored"})
	}
}
