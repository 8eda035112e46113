// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// BuildScriptChild builds the program that runs scripts into a directory of its own, and returns the command for
// sandbox.Config. Remove takes it away.
func BuildScriptChild(ctx context.Context) (command []string, remove func(), err error) {
	root, err := repositoryRoot()
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "kubecleaner-child-")
	if err != nil {
		return nil, nil, err
	}
	binary := filepath.Join(dir, "child")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "./test/testenv/child")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as in the image
	if output, err := cmd.CombinedOutput(); err != nil {
		_ = os.RemoveAll(dir)
		return nil, nil, fmt.Errorf("building the child that runs scripts: %w\n%s", err, output)
	}
	return []string{binary}, func() { _ = os.RemoveAll(dir) }, nil
}
