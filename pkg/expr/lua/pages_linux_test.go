// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"bufio"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// TestLargePages asks the kernel what it was asked for: "hg" in proc_pid_smaps(5).
func TestLargePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this kernel has no large pages to ask for: ", err)
	}
	block := make([]byte, 8<<20)
	middle := uint64(uintptr(unsafe.Pointer(&block[len(block)/2])))
	if slices.Contains(flagsOf(t, middle), "hg") {
		t.Fatal("a block has large pages before anybody asked")
	}
	LargePages(block)
	for _, place := range []int{0, len(block) / 2, len(block) - 1} {
		if flags := flagsOf(t, uint64(uintptr(unsafe.Pointer(&block[place])))); !slices.Contains(flags, "hg") {
			t.Errorf("byte %d of the block has the flags %q, want hg", place, flags)
		}
	}
	runtime.KeepAlive(block)
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
