// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package lua

// HugePages does nothing on this system.
func HugePages([]byte) {}
