// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"time"

	"golang.org/x/sys/unix"
)

// SinceBoot is the time since the machine started. Unlike the monotonic clock of package time, it counts the time in
// which the machine was suspended; unlike the wall clock, nobody can set it.
func SinceBoot() time.Duration {
	var now unix.Timespec
	// It fails for an unknown clock only, which this one is not since Linux 2.6.39.
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
	return time.Duration(now.Nano())
}
