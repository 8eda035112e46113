// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxDescriptors leaves room for the three pipes and what the Go runtime needs to wait.
const maxDescriptors = 8

// ownProgram is this program, also when its file was replaced since.
func ownProgram() (string, error) { return "/proc/self/exe", nil }

// setAttributes makes a child die with its parent.
func setAttributes(cmd *exec.Cmd) {
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// giveUpPrivileges keeps the children of this thread from ever gaining privileges by what they execute. It cannot fail
// on a kernel on which the rest works.
func giveUpPrivileges() { _ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// niceness is how much a child that takes long gives way to the manager and to the children that are quick: it gets two
// fifths of what each of them gets. Where each processor has one of them, that is still more than a Stopwatch's
// patience needs.
const niceness = 4

// giveWay lowers the priority of this process for good. On Linux each thread has its own, and new ones have that of who
// starts them.
func giveWay() {
	was, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return
	}
	nice := min(19, 20-was+niceness) // the kernel returns 20 less the niceness
	for changed := true; changed; {  // until none was started meanwhile by one that was not changed yet
		changed = false
		threads, _ := os.ReadDir("/proc/self/task")
		for _, thread := range threads {
			id, err := strconv.Atoi(thread.Name())
			if err != nil {
				continue
			}
			is, err := unix.Getpriority(unix.PRIO_PROCESS, id) // a thread that has ended has none
			changed = changed || err == nil && is != 20-nice && unix.Setpriority(unix.PRIO_PROCESS, id, nice) == nil
		}
	}
}

// contain limits this process. Its memory is watched more exactly than these limits say: they are for what the watch
// cannot see in time.
func contain(memory int64) error {
	// So that the kernel takes a child first when memory runs out. Where it may not be, it is not.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	// The heap takes address space in steps, and the runtime begins anywhere in the first one: a large block shows where.
	// It can have the fewest steps that are hardly less than the memory. A block of 4 MiB would start the collector.
	block := make([]byte, 1<<20)
	end := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(block)))) + uint64(len(block))
	rest, needed := (memoryStep-end%memoryStep)%memoryStep, uint64(memory)/16*15
	steps := (max(needed, rest) - rest + memoryStep - 1) / memoryStep
	space, data, err := sizes()
	if err != nil {
		return err
	}
	if err := closeDescriptors(); err != nil {
		return err
	}
	const threads = memoryStep / 2 // for the rest, and less than a step, or the heap would take it
	for resource, limit := range map[int]uint64{
		unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: maxDescriptors,
		unix.RLIMIT_AS: space + steps*memoryStep + threads,
		// What can be written to counts here, and not what the heap only reserves. Not every kernel keeps to it.
		unix.RLIMIT_DATA: data + uint64(memory) + threads,
	} {
		if err := setLimit(resource, limit); err != nil {
			return err
		}
	}
	return nil
}

// closeDescriptors closes all but the three pipes and what the Go runtime waits with. Descriptors of the parent can
// come here when its own parent left them open.
func closeDescriptors() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("reading the descriptors of this process: %w", err)
	}
	for _, entry := range entries {
		number, err := strconv.Atoi(entry.Name())
		target, _ := os.Readlink("/proc/self/fd/" + entry.Name()) // that of the directory itself is gone
		if err == nil && number > 2 && !strings.HasPrefix(target, "anon_inode:[event") {
			_ = unix.Close(number)
		}
	}
	return nil
}

// setLimit sets a limit for good, or leaves a stricter one that was there before.
func setLimit(resource int, limit uint64) error {
	var was unix.Rlimit
	if err := unix.Getrlimit(resource, &was); err != nil {
		return fmt.Errorf("reading a limit of this process: %w", err)
	}
	limit = min(limit, was.Max)
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return fmt.Errorf("limiting this process: %w", err)
	}
	return nil
}

// sizes are how large this process's address space is, and what it can write to of it, in bytes.
func sizes() (space, data uint64, err error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0, fmt.Errorf("reading the size of this process: %w", err)
	}
	var unused uint64
	if _, err := fmt.Sscan(string(text), &space, &unused, &unused, &unused, &unused, &data); err != nil {
		return 0, 0, fmt.Errorf("reading the size of this process: %w", err)
	}
	page := uint64(os.Getpagesize())
	return space * page, data * page, nil
}
