// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRunner puts files beside this program: only one that can be executed is taken.
func TestRunner(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(filepath.Dir(self), "script-runner")
	t.Cleanup(func() { _ = os.Remove(beside) })
	if got := Runner(); got != nil {
		t.Errorf("nothing is there, and it is %q", got)
	}
	if err := os.WriteFile(beside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Runner(); got != nil {
		t.Errorf("it cannot be executed, and it is %q", got)
	}
	if err := os.Chmod(beside, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := Runner(); !slices.Equal(got, []string{beside}) {
		t.Errorf("it is %q", got)
	}
}
