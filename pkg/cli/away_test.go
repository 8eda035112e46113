// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// TestAwayIsOneLine: when nobody answers, it does not matter which request a command sends first.
func TestAwayIsOneLine(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, os.WriteFile(file, []byte("{clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}], contexts: [{name: a, context: {cluster: a}}], current-context: a}"), 0o600))
	want := "error: cannot reach the API server: dial tcp 127.0.0.1:1: connect: connection refused\n" +
		"hint: kubectl config view --minify --kubeconfig " + file + " shows which cluster is asked   [E-CLU-001]\n"
	for _, args := range [][]string{
		{"suspend", "x"},
		{"resume", "x"},
		{"stop"},
		{"resume"},
		{"run", "x", "--yes"},
		{"runs"},
		{"cancel", "x"},
		{"doctor"},
		{"preview", "x"},
		{"rbac", "x"},
		{"approve", "x"},
		{"restore", "x"},
	} {
		if got := call(t.Context(), t, "", nil, append(args, "--kubeconfig", file)...); got.code != codes.ExitError || got.out != "" || got.errOut != want {
			t.Errorf("%v: exit %d: %s%s", args, got.code, got.out, got.errOut)
		}
	}
}
