// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
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

// giveUpPrivileges keeps the children of this thread from ever gaining privileges by what they execute. It cannot fail on a
// kernel on which the rest works.
func giveUpPrivileges() { _ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// niceness is how much a child that takes long gives way to the manager and to the children that are quick: it gets two fifths of what each of
// them gets. Where each processor has one of them, that is still more than a Stopwatch's patience needs.
const niceness = 4

// giveWay lowers the priority of this process for good. On Linux each thread has its own, and new ones have that of who starts them.
func giveWay() {
	was, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return
	}
	nice := min(19, 20-was+niceness) // the kernel tells 20 less the niceness
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

// fence is the limit of this process's address space. Limiting the data segment would not limit a Go heap.
type fence struct {
	// start is the size of the address space, and rest how much of it the heap can still take, in bytes.
	start, rest uint64
}

// contain limits this process, but for its memory.
func contain() (fence, error) {
	// So that the kernel takes a child first when memory runs out. Where it may not be, it is not.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	// The heap takes address space in steps, and the runtime begins anywhere in the first one: where, a large block tells.
	block := make([]byte, 4<<20)
	end := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(block)))) + uint64(len(block))
	f := fence{rest: (memoryStep - end%memoryStep) % memoryStep}
	var err error
	if f.start, err = addressSpace(); err != nil {
		return f, err
	}
	if err := closeDescriptors(); err != nil {
		return f, err
	}
	if err := setLimit(unix.RLIMIT_CORE, 0, 0); err != nil {
		return f, err
	}
	return f, setLimit(unix.RLIMIT_NOFILE, maxDescriptors, maxDescriptors)
}

// allow lets the heap have the fewest steps that are hardly less than the memory, which is watched more exactly. Later it can be
// as much as most.
func (f fence) allow(memory, most int64) error {
	return setLimit(unix.RLIMIT_AS, f.limit(memory), f.limit(most))
}

func (f fence) limit(memory int64) uint64 {
	const threads = memoryStep / 2 // for the rest, and less than a step, or the heap would take it
	needed := uint64(memory) / 16 * 15
	steps := (max(needed, f.rest) - f.rest + memoryStep - 1) / memoryStep
	return f.start + steps*memoryStep + threads
}

// heapStep is by what the heap itself grows (runtime: pallocChunkBytes), and as little as that is not worth the while. In larger pieces it
// could take address space that it cannot use.
const heapStep = 4 << 20

// growHeap makes room in the heap, in huge pages, for as many bytes as a script is likely to need, or for what is left up to the memory
// limit. Nothing of it is touched: the heap has the room, and the kernel backs what is used.
func growHeap(likely int64) {
	total := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(total)
	left := debug.SetMemoryLimit(-1) - int64(total[0].Value.Uint64())
	var pieces []string // all at once, or one would be made of another
	for room := min(likely, left); room > heapStep; room -= heapStep {
		var piece strings.Builder // the only thing that gets memory without clearing it
		piece.Grow(heapStep)
		_ = piece.WriteByte(0)
		lua.HugePages(unsafe.Slice(unsafe.StringData(piece.String()), heapStep))
		pieces = append(pieces, piece.String())
	}
	if len(pieces) > 0 {
		debug.FreeOSMemory()
	}
}

// closeDescriptors closes all but the three pipes and what the Go runtime waits with. Descriptors of the parent can come here when
// its own parent left them open.
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

// setLimit sets a limit, or leaves a stricter one that was there before.
func setLimit(resource int, soft, hard uint64) error {
	var was unix.Rlimit
	if err := unix.Getrlimit(resource, &was); err != nil {
		return fmt.Errorf("reading a limit of this process: %w", err)
	}
	hard = min(hard, was.Max)
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: min(soft, hard), Max: hard}); err != nil {
		return fmt.Errorf("limiting this process: %w", err)
	}
	return nil
}

// addressSpace is how large this process's address space is, in bytes.
func addressSpace() (uint64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, fmt.Errorf("reading the size of this process: %w", err)
	}
	pages, _, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseUint(pages, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading the size of this process: %w", err)
	}
	return n * uint64(os.Getpagesize()), nil
}
