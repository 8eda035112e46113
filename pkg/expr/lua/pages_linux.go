// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// pageSize is that of a large page where there are any: 2 MiB.
const pageSize = 2 << 20

// LargePages asks the kernel for large pages where these bytes stand, which must be of the heap. That makes a difference to pages which
// nothing has touched yet: each takes a fault, and one of 2 MiB costs little more than one of 4 KiB, of which there are 512 in it. It is
// advice: where it is not taken, all works as before.
func LargePages(block []byte) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(block)))
	end := start + uintptr(len(block))
	// Pages are counted whole. What stands beside the block in one is of the heap, too: it grows by more than a page at once.
	start, end = start/pageSize*pageSize, (end+pageSize-1)/pageSize*pageSize
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, end-start, unix.MADV_HUGEPAGE)
}
