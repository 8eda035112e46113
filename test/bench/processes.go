// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// sampleEvery is how often memory is looked at.
	sampleEvery = 5 * time.Millisecond
	// ticksPerSecond is the unit of CPU time in /proc: USER_HZ, which is 100 on all architectures that Go runs on.
	ticksPerSecond = 100
)

// memory is in bytes.
type memory struct {
	// Resident is the sum of what each process had in memory at its own peak. What processes share, above all the
	// program's text, counts once for each of them.
	Resident int64
	// SharedOnce is the greatest sum in which what belongs to files counts once for each program, as a container pays for
	// it.
	SharedOnce int64
	// Anonymous is the greatest sum of what belongs to no file: heaps and stacks.
	Anonymous int64
}

// family watches a process and all that descend from it.
type family struct {
	peak    memory
	members map[int]bool // false until they count
	others  map[int]bool // known to be no members
	ended   chan struct{}
	done    chan struct{}
}

func newFamily(root int) *family {
	return &family{
		members: map[int]bool{root: true},
		others:  map[int]bool{},
		ended:   make(chan struct{}),
		done:    make(chan struct{}),
	}
}

// watchFamily begins to watch.
func watchFamily(root int) *family {
	f := newFamily(root)
	go func() {
		defer close(f.done)
		ticker := time.NewTicker(sampleEvery)
		defer ticker.Stop()
		for {
			f.sample()
			select {
			case <-f.ended:
				return
			case <-ticker.C:
			}
		}
	}()
	return f
}

// stop ends the watching and returns the peak.
func (f *family) stop() memory {
	close(f.ended)
	<-f.done
	return f.peak
}

func (f *family) sample() {
	var now memory
	files := map[string]int64{} // by program
	for pid, counts := range f.members {
		if !counts {
			continue
		}
		one, err := memoryOf(pid)
		if err != nil {
			delete(f.members, pid) // it has ended
			continue
		}
		now.Resident += one.peak
		now.Anonymous += one.anonymous
		files[one.program] = max(files[one.program], one.files)
	}
	f.peak.Resident = max(f.peak.Resident, now.Resident)
	now.SharedOnce = now.Anonymous
	for _, bytes := range files {
		now.SharedOnce += bytes
	}
	f.peak.SharedOnce = max(f.peak.SharedOnce, now.SharedOnce)
	f.peak.Anonymous = max(f.peak.Anonymous, now.Anonymous)
	f.look()
}

// look finds new members. A process counts from the next sample on: right after the fork it is still made of its
// parent's memory.
func (f *family) look() {
	directory, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer func() { _ = directory.Close() }()
	names, _ := directory.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || f.others[pid] {
			continue
		}
		if _, known := f.members[pid]; known {
			f.members[pid] = true
			continue
		}
		fields, err := stat(pid)
		if err != nil {
			continue
		}
		parent, _ := strconv.Atoi(fields[statParent])
		if _, ours := f.members[parent]; ours {
			f.members[pid] = false
		} else {
			f.others[pid] = true
		}
	}
}

// process is what the kernel says of one process's memory, in bytes: its peak, and what it is made of now.
type process struct {
	peak, anonymous, files int64
	program                string // the file
}

func memoryOf(pid int) (process, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return process{}, err
	}
	var p process
	if p.program, err = os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil {
		return process{}, err
	}
	for line := range strings.Lines(string(text)) {
		field, value, _ := strings.Cut(line, ":")
		switch field {
		case "VmHWM":
			p.peak = kibibytes(value)
		case "RssAnon":
			p.anonymous = kibibytes(value)
		case "RssFile":
			p.files = kibibytes(value)
		}
	}
	return p, nil
}

// forgetPeak lets the peak of a process's memory count from now on. What it took before, its start above all, is
// forgotten: proc(5), clear_refs.
func forgetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

func kibibytes(value string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
	return n << 10
}

// Places in /proc/PID/stat, counted from behind the command's name.
const (
	statParent = 1
	statUser   = 11
	statSystem = 12
	// Of children that have ended.
	statChildUser   = 13
	statChildSystem = 14
)

// stat reads the fields behind the command's name, which itself may hold anything.
func stat(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) <= statChildSystem {
		return nil, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	return fields, nil
}

// cpuOf is the CPU time that a process has used so far.
func cpuOf(pid int) (time.Duration, error) { return cpuFrom(pid, statUser, statSystem) }

// cpuOfChildren is the CPU time that those of its children have used that have ended.
func cpuOfChildren(pid int) (time.Duration, error) {
	return cpuFrom(pid, statChildUser, statChildSystem)
}

func cpuFrom(pid, userField, systemField int) (time.Duration, error) {
	fields, err := stat(pid)
	if err != nil {
		return 0, err
	}
	user, errUser := strconv.ParseInt(fields[userField], 10, 64)
	system, errSystem := strconv.ParseInt(fields[systemField], 10, 64)
	if errUser != nil || errSystem != nil {
		return 0, fmt.Errorf("/proc/%d/stat: CPU times %q, %q", pid, fields[userField], fields[systemField])
	}
	return time.Duration(user+system) * time.Second / ticksPerSecond, nil
}

// ownCPU is the CPU time that this process, and its children that have ended, have used so far.
func ownCPU() (time.Duration, error) {
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if err := syscall.Getrusage(who, &usage); err != nil {
			return 0, fmt.Errorf("reading the CPU time: %w", err)
		}
		total += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return total, nil
}
