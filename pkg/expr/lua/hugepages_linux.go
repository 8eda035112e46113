// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePageSize is that of x86, and of arm64 with pages of 4 KiB. Where it is another, less of what is meant becomes huge pages, or none.
const hugePageSize = 2 << 20

// HugePages asks the kernel for huge pages where these bytes stand, which must be of the heap. That makes a difference to pages which
// nothing has touched yet: each takes a fault, and one of 2 MiB costs little more than one of 4 KiB, of which there are 512 in it. It is
// advice: where it is not taken, all works as before.
func HugePages(block []byte) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(block)))
	end := start + uintptr(len(block))
	// Pages are counted whole. What stands beside the block in one is of the heap, too, which grows by 4 MiB at once.
	start, end = start/hugePageSize*hugePageSize, (end+hugePageSize-1)/hugePageSize*hugePageSize
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, end-start, unix.MADV_HUGEPAGE)
}
