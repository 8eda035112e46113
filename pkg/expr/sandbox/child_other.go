// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package sandbox

import (
	"os"
	"os/exec"
)

// ownProgram is this program.
func ownProgram() (string, error) { return os.Executable() }

func setAttributes(cmd *exec.Cmd) { cmd.Dir = os.TempDir() }

func giveUpPrivileges() {}

// fence is nothing here: of what limits a child only its own watch exists.
type fence struct{}

func contain() (fence, error) { return fence{}, nil }

func (fence) allow(_, _ int64) error { return nil }

func growHeap(int64) {}

func giveWay() {}
