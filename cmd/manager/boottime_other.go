// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import "time"

var started = time.Now()

// sinceBoot is the time since this process started, by a clock that nobody can set.
func sinceBoot() time.Duration { return time.Since(started) }
