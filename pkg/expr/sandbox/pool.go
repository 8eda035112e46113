// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// DefaultMaxMemory is the most that a session may have, in bytes, unless a Config says otherwise.
	DefaultMaxMemory = 304 << 20
	// SmallMemory is about five times what a usual script needs that looks at one object after the other, in bytes.
	SmallMemory = 24 << 20
	// CompilerMemory is what the child that compiles may use, in bytes. It is no session's.
	CompilerMemory = memoryStep

	// memoryStep is by what a Go heap's address space grows.
	memoryStep = 64 << 20
)

// Config says how children are started, and how much a session may use at most.
type Config struct {
	// Command starts a child. Empty means this program.
	Command []string
	// MaxMemory is the most that a session may have, in bytes. Zero means DefaultMaxMemory.
	MaxMemory int64
	// Clock measures how long scripts and their process take.
	Clock clock.PassiveClock
}

// Pool starts children. It is safe for concurrent use. How much memory all sessions have together is the caller's to
// decide, by how many it opens at once.
type Pool struct {
	command  []string
	most     int64 // of a session's memory
	clock    clock.PassiveClock
	starter  starter
	compiler *Session
	compiled compiled
	second   chan struct{} // see newSecond

	mu       sync.Mutex
	closed   bool
	sessions map[*Session]struct{}
	// compilerIdle ends the compiler's child when nobody has needed it for a while. Nil before the first use.
	compilerIdle *time.Timer
}

// New makes a pool. It starts nothing.
func New(config Config) *Pool {
	p := &Pool{
		command:  config.Command,
		most:     cmp.Or(config.MaxMemory, DefaultMaxMemory),
		clock:    config.Clock,
		second:   newSecond(),
		sessions: map[*Session]struct{}{},
	}
	p.compiled.clock = config.Clock
	p.compiler = p.newSession(Options{Memory: CompilerMemory, ObjectTimeout: compileTimeout})
	return p
}

// Close ends all sessions, and with them all children. It returns when they are gone.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	if p.compilerIdle != nil {
		p.compilerIdle.Stop()
	}
	sessions := []*Session{p.compiler}
	for s := range p.sessions {
		sessions = append(sessions, s)
	}
	p.mu.Unlock()
	for _, s := range sessions {
		s.Close()
	}
	p.starter.stop()
}

// Options are what a run gives its scripts.
type Options struct {
	// Now is what os.time and os.date show during the whole session.
	Now time.Time
	// Seed is where math.random starts.
	Seed int64
	// ObjectTimeout limits the judging or changing of one object. Zero means 2 seconds.
	ObjectTimeout time.Duration
	// AggregateTimeout limits an aggregated script. Zero means 60 seconds.
	AggregateTimeout time.Duration
	// Memory is what the session may use, in bytes. When that is not enough, and a session may have more, what was asked
	// of it fails with an OutgrownError. Zero, or more than a session may have, means the most that it may have.
	Memory int64
	// Print gets what scripts print, line by line: at most 64 lines of 256 bytes. It may be called on any goroutine, on
	// one at a time. Nil drops it.
	Print func(line string)
}

// Open begins a session: one run's use of a child. The child starts when the first script is used. Close ends the
// session.
func (p *Pool) Open(options Options) *Session {
	options.ObjectTimeout = cmp.Or(options.ObjectTimeout, 2*time.Second)
	options.AggregateTimeout = cmp.Or(options.AggregateTimeout, time.Minute)
	options.Memory = min(cmp.Or(options.Memory, p.most), p.most)
	s := p.newSession(options)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		s.end()
	} else {
		p.sessions[s] = struct{}{}
	}
	return s
}

// child is the command of a child, not started.
func (p *Pool) child() (*exec.Cmd, error) {
	if len(p.command) == 0 {
		self, err := ownProgram()
		if err != nil {
			return nil, fmt.Errorf("finding the own program, which runs scripts: %w", err)
		}
		return &exec.Cmd{Path: self, Args: []string{self, childArgument}}, nil
	}
	path, err := exec.LookPath(p.command[0])
	if err != nil {
		return nil, fmt.Errorf("finding the program that runs scripts: %w", err)
	}
	return &exec.Cmd{Path: path, Args: append(append([]string{}, p.command...), childArgument)}, nil
}
