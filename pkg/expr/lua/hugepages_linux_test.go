// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestHugePages asks the kernel what it was asked for: "hg" in proc_pid_smaps(5). The bytes are not of the heap, where others may have asked.
func TestHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this kernel has no huge pages to ask for: ", err)
	}
	region, err := unix.Mmap(-1, 0, 12<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(region) })
	block := region[hugePageSize : len(region)-hugePageSize]
	isHuge := func(place int) bool {
		return slices.Contains(flagsOf(t, uint64(uintptr(unsafe.Pointer(&block[place])))), "hg")
	}
	if isHuge(len(block) / 2) {
		t.Fatal("a block has huge pages before anybody asked")
	}
	HugePages(block)
	for _, place := range []int{0, len(block) / 2, len(block) - 1} {
		if !isHuge(place) {
			t.Errorf("byte %d of the block has no huge page", place)
		}
	}
}

// flagsOf are the flags of the mapping that an address is in.
func flagsOf(t *testing.T, address uint64) []string {
	t.Helper()
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	inside := false
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if low, high, isMapping := strings.Cut(fields[0], "-"); isMapping {
			from, _ := strconv.ParseUint(low, 16, 64)
			to, _ := strconv.ParseUint(high, 16, 64)
			inside = from <= address && address < to
		}
		if inside && fields[0] == "VmFlags:" {
			return fields[1:]
		}
	}
	t.Fatalf("no mapping has the address %x", address)
	return nil
}
