// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package lua

import (
	"syscall"
	"time"
)

// processTime is how long this process has had a processor, all threads together. It cannot fail for the own process.
func processTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
