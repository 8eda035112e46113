// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVersion: the next release's version stands in every command, and versions of other things stay.
func TestVersion(t *testing.T) {
	t.Parallel()
	dir := writeTree(t, map[string]string{
		"README.md":                     "go install a@v0.1.0, --version 0.1.0. Kubernetes 1.31, v10.1.0, v0.1.0-rc.1",
		"docs/how-to/install.md":        "a_v0.1.0_linux v0.1.0 ?ref=v0.1.0\nhttps://example.com/v0.1.0/install.yaml\n",
		"CHANGELOG.md":                  "## v0.1.0\n",
		"config/manager/manager.yaml":   "  image: ghcr.io/kubecleaner/manager:v0.1.0\n",
		"charts/kubecleaner/Chart.yaml": "version: 0.1.0\nappVersion: dev\n",
	})
	if err := run(t.Context(), []string{"version", "-root", dir, "-version", "v0.2.0-rc.1"}); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"README.md":                     "go install a@v0.2.0-rc.1, --version 0.2.0-rc.1. Kubernetes 1.31, v10.1.0, v0.1.0-rc.1",
		"docs/how-to/install.md":        "a_v0.2.0-rc.1_linux v0.2.0-rc.1 ?ref=v0.2.0-rc.1\nhttps://example.com/v0.2.0-rc.1/install.yaml\n",
		"CHANGELOG.md":                  "## v0.1.0\n",
		"config/manager/manager.yaml":   "  image: ghcr.io/kubecleaner/manager:v0.2.0-rc.1\n",
		"charts/kubecleaner/Chart.yaml": "version: 0.2.0-rc.1\nappVersion: dev\n",
	} {
		if diff := cmp.Diff(want, string(readFile(t, dir, file))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
	for _, args := range [][]string{{"version", "-root", dir, "-version", "0.2.0"}, {"version", "-root", t.TempDir(), "-version", "v0.2.0"}} {
		if err := run(t.Context(), args); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
	bare := writeTree(t, map[string]string{"config/manager/manager.yaml": "image: ghcr.io/kubecleaner/manager\n"})
	if err := run(t.Context(), []string{"version", "-root", bare, "-version", "v0.2.0"}); err == nil || !strings.Contains(err.Error(), "names no image kubecleaner/manager with a version") {
		t.Errorf("without a version in config: %v", err)
	}
}
