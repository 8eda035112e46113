// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// slim gives memory back that is not in use: free pages of the heap, and what is mapped of the program's own file, most
// of which is code that initializes packages. What is used again is mapped again, from the page cache. It does what it
// can: nothing depends on it.
func slim() {
	debug.FreeOSMemory()
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	var start, end uintptr
	readOnly := false
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		if low, high, isMapping := strings.Cut(fields[0], "-"); isMapping {
			readOnly = fields[len(fields)-1] == self && (fields[1] == "r-xp" || fields[1] == "r--p")
			start, end = address(low), address(high)
		}
		// Only pages that are still the file's may go: in a position-independent program some have addresses written into
		// them.
		if readOnly && fields[0] == "Anonymous:" && fields[1] == "0" {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, end-start, unix.MADV_DONTNEED)
		}
	}
}

func address(hex string) uintptr {
	n, _ := strconv.ParseUint(hex, 16, 64)
	return uintptr(n)
}
