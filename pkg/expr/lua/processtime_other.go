// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package lua

import "time"

var started = time.Now()

// processTime is the time by the clock, here.
func processTime() time.Duration { return time.Since(started) }
