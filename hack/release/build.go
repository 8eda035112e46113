// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// target is a platform that programs are built for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// suffix is the target as part of a file's name.
func (t target) suffix() string { return t.os + "_" + t.arch }

func withTarget(targets []target, t target) []target {
	if slices.Contains(targets, t) {
		return targets
	}
	return append(targets, t)
}

// build builds programs into a directory and returns their paths. The result depends on the source, the version and the
// version of Go only: not on the directory of the source, on version control, or on Go settings of the environment.
func build(ctx context.Context, root string, t target, version, dir string, packages ...string) ([]string, error) {
	args := append([]string{
		"build",
		"-trimpath",
		"-buildvcs=false",
		"-ldflags",
		"-s -w -X main.version=" + version,
		"-o",
		dir + string(filepath.Separator),
	}, packages...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch,
		"CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GODEBUG=")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("building %s for %s: %w", strings.Join(packages, " "), t, err)
	}
	programs := make([]string, len(packages))
	for i, p := range packages {
		programs[i] = filepath.Join(dir, path.Base(p))
		if t.os == "windows" {
			programs[i] += ".exe"
		}
	}
	return programs, nil
}
