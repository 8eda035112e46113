// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import "runtime/debug"

// slim gives memory back that is not in use.
func slim() { debug.FreeOSMemory() }
