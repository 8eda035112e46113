// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"strings"
	"testing"
)

// What is kept of commands is charged, and a long text is not kept.
func TestCommandsAreCharged(t *testing.T) {
	t.Parallel()
	n, want := newNotes(), 3*64+int64(len("kubectlscaleweb"))
	n.command([]string{"kubectl", "scale", "web", strings.Repeat("a", 300)})
	if n.bytes != want || len(n.commanded) != 3 {
		t.Errorf("%d bytes for %v", n.bytes, n.commanded)
	}
	if n.command([]string{"scale", "web"}); n.bytes != want {
		t.Errorf("what is known was charged again: %d bytes", n.bytes)
	}
}
