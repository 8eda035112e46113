// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
)

const (
	// grace is how much longer than its limit a step may take in the child before the child ends itself.
	grace = 250 * time.Millisecond
	// silence is how much longer than limit and grace the parent waits for an answer. Long, because it is only for
	// children that are stopped or that get no processor.
	silence = 2 * time.Second
	// startLimit bounds the start of a child.
	startLimit = 15 * time.Second
	// stderrSize is how much of what a child writes to stderr is kept, in bytes.
	stderrSize = 4 << 10
)

// process is a child as its parent sees it. One goroutine at a time uses it.
type process struct {
	clock  clock.PassiveClock
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	reader *bufio.Reader
	buffer []byte
	// silent ends a child from which nothing was heard in time.
	silent *time.Timer
	limit  time.Duration // of silence
	// heard is when something was heard but that it is alive.
	heard     time.Time
	wasSilent atomic.Bool
	killed    atomic.Bool

	stderr head
	reaped chan struct{} // closed when the child is gone and all it said is read
}

func (p *Pool) startProcess() (*process, error) {
	cmd, err := p.child()
	if err != nil {
		return nil, err
	}
	var pipes [3]struct{ read, write *os.File }
	closeAll := func() {
		for _, pipe := range pipes {
			_ = pipe.read.Close() // closing nil does nothing but say so
			_ = pipe.write.Close()
		}
	}
	for i := range pipes {
		if pipes[i].read, pipes[i].write, err = os.Pipe(); err != nil {
			closeAll()
			return nil, fmt.Errorf("starting a process for scripts: %w", err)
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes[0].read, pipes[1].write, pipes[2].write
	// The last one is for programs that were built with cgo: the C library would take 64 MiB of address space for each
	// thread.
	cmd.Env = []string{"GOTRACEBACK=none", "GOMAXPROCS=1", "MALLOC_ARENA_MAX=1"}
	setAttributes(cmd)
	if err := p.starter.start(cmd); err != nil {
		closeAll()
		return nil, fmt.Errorf("starting a process for scripts: %w", err)
	}
	for _, theirs := range []*os.File{pipes[0].read, pipes[1].write, pipes[2].write} {
		_ = theirs.Close()
	}
	child := &process{
		clock:  p.clock,
		cmd:    cmd,
		in:     pipes[0].write,
		out:    pipes[1].read,
		reader: bufio.NewReaderSize(pipes[1].read, 32<<10),
		reaped: make(chan struct{}),
	}
	child.silent = time.AfterFunc(startLimit, func() {
		child.wasSilent.Store(true)
		child.kill()
	})
	go child.reap(pipes[2].read)
	return child, nil
}

// reap waits for the child's end.
func (p *process) reap(stderr *os.File) {
	defer close(p.reaped)
	_, _ = io.Copy(&p.stderr, stderr) // ends with the child, which alone holds the other end
	_ = stderr.Close()
	_ = p.cmd.Wait() // how it ended is in ProcessState
}

func (p *process) kill() {
	p.killed.Store(true)
	_ = p.cmd.Process.Kill() // it may be gone already
}

// gone reports whether the child has ended.
func (p *process) gone() bool {
	select {
	case <-p.reaped:
		return true
	default:
		return false
	}
}

// bury ends the child and returns when it is gone.
func (p *process) bury() {
	p.silent.Stop()
	p.kill()
	<-p.reaped
	_ = p.in.Close()
	_ = p.out.Close()
}

// ask sends a request and hands the answers to each until it says that it has all. An error is that of each, the
// context's cause, a *death or a *protocolError; the child is then gone. What scripts print goes to printed.
func (p *process) ask(
	ctx context.Context,
	limit time.Duration,
	request [][]byte,
	printed func(string),
	each func(answer) (last bool, err error),
) error {
	stop := context.AfterFunc(ctx, p.kill)
	err := p.converse(limit, request, printed, each)
	if !stop() && err == nil {
		err = context.Cause(ctx) // the answers are complete, but the child is ended already
	}
	p.silent.Stop()
	if err == nil {
		return nil
	}
	if errors.Is(err, errLost) {
		err = p.autopsy()
	}
	p.bury()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// errLost says that the child closed its pipes.
var errLost = errors.New("the process ended")

func (p *process) converse(
	limit time.Duration,
	request [][]byte,
	printed func(string),
	each func(answer) (bool, error),
) error {
	p.limit, p.heard = limit, p.clock.Now()
	p.silent.Reset(limit)
	size := 0
	for _, part := range request {
		size += len(part)
	}
	head := make([]byte, 0, 256)
	head = binary.LittleEndian.AppendUint32(head, uint32(size))
	head = append(head, request[0]...)
	for _, part := range append([][]byte{head}, request[1:]...) {
		if _, err := p.in.Write(part); err != nil {
			break // the child may have said why before it ended
		}
	}
	for {
		frame, err := readFrame(p.reader, p.buffer, maxAnswer)
		var foul *protocolError
		switch {
		case errors.As(err, &foul):
			return err
		case err != nil:
			return errLost
		}
		p.buffer = frame
		last, err := p.answers(frame, printed, each)
		if last || err != nil {
			return err
		}
	}
}

// answers hands on the answers of one frame. What stands behind the last one is one too many.
func (p *process) answers(frame []byte, printed func(string), each func(answer) (bool, error)) (last bool, err error) {
	for d := (&decoder{rest: frame}); len(d.rest) > 0; {
		if last {
			return false, &protocolError{"more answers than there were questions"}
		}
		a, err := d.answer()
		if err != nil {
			return false, err
		}
		switch a.kind {
		case answerPrint: // a child that only prints is silent
			printed(a.text)
			continue
		case answerAlive: // and one that only says so is not for long
			p.silent.Reset(min(p.limit, lua.Patience*p.limit-p.clock.Since(p.heard)))
			continue
		}
		p.heard = p.clock.Now()
		p.silent.Reset(p.limit)
		switch a.kind {
		case answerOutOfTime:
			return false, &death{kind: BudgetTime, named: true}
		case answerOutOfMemory:
			return false, &death{kind: BudgetMemory, named: true}
		}
		if last, err = each(a); err != nil {
			return false, err
		}
	}
	return last, nil
}

// autopsy finds out why a child that said nothing of it is gone.
func (p *process) autopsy() *death {
	select {
	case <-p.reaped:
	case <-time.After(time.Second):
		return &death{kind: BudgetCrash, detail: "it closed its pipes"}
	}
	memory, line := readStderr(p.stderr.String())
	state := p.cmd.ProcessState.String()
	switch {
	case p.wasSilent.Load():
		return &death{kind: BudgetTime}
	case memory:
		return &death{kind: BudgetMemory}
	case !p.killed.Load() && state == "signal: killed":
		return &death{kind: BudgetKilled}
	case line == "":
		line = state
	}
	return &death{kind: BudgetCrash, detail: line}
}

// head keeps the beginning of what is written to it.
type head struct {
	mu   sync.Mutex
	text []byte
}

// Write never fails.
func (h *head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, b[:min(len(b), stderrSize-len(h.text))]...)
	return len(b), nil
}

// String is what was kept.
func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}
