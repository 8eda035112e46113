// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package transport

import "time"

var started = time.Now()

// SinceBoot is the time since this process started, by a clock that nobody can set.
func SinceBoot() time.Duration { return time.Since(started) }
