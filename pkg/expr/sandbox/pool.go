// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"k8s.io/utils/lru"
)

const (
	// DefaultMaxMemory is what all children together may use, in bytes, unless a Config says otherwise: beside a script that hangs in all that a
	// child may have, there is room for another such child, for three small ones, and for the compiler.
	DefaultMaxMemory = 768 << 20
	// MinMaxMemory is the least with which every script can run that keeps to the default limits.
	MinMaxMemory = defaultMemory + smallMemory + compilerMemory

	// defaultMemory is what one child may use.
	defaultMemory = 256 << 20
	// smallMemory is what a child gets first: many times what a usual script needs that looks at one object after the other, or at few together.
	smallMemory = memoryStep
	// compilerMemory is set aside for the child that compiles.
	compilerMemory = memoryStep
	// maxOwners is how many owners of large aggregates are remembered.
	maxOwners = 10_000
	// memoryStep is by what a Go heap's address space grows. Only multiples of it make sense.
	memoryStep = 64 << 20
)

// Config says how children are started, and how much they may use together.
type Config struct {
	// Command starts a child. Empty means this program.
	Command []string
	// MaxMemory bounds all children together, in bytes. Zero means 768 MiB.
	MaxMemory int64
}

// Pool starts children and bounds what they use. It is safe for concurrent use.
type Pool struct {
	command  []string
	starter  starter
	room     *room
	compiler *Session
	compiled compiled
	// outgrown is how many bytes a child needs for an aggregate, by the owner of its session, where a small one was not enough. The least
	// recently used are forgotten.
	outgrown *lru.Cache

	mu       sync.Mutex
	closed   bool
	sessions map[*Session]struct{}
	// compilerIdle ends the compiler's child when nobody has needed it for a while. Nil before the first use.
	compilerIdle *time.Timer
}

// New makes a pool. It starts nothing.
func New(config Config) *Pool {
	total := config.MaxMemory
	if total == 0 {
		total = DefaultMaxMemory
	}
	p := &Pool{command: config.Command, room: newRoom(max(0, total-compilerMemory)), sessions: map[*Session]struct{}{}, outgrown: lru.New(maxOwners)}
	p.compiler = p.newSession(Options{Memory: compilerMemory, ObjectTimeout: compileTimeout})
	p.compiler.prepaid = true
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
	// Memory limits one child, in bytes. Zero means 256 MiB.
	Memory int64
	// Owner is whose scripts these are, if that is to be remembered: where once the objects of an aggregate needed a large child, the
	// next session of the owner waits for as much before it begins.
	Owner string
	// Pace is what is known of how long the run takes, so that it does not wait for the memory of slower ones.
	Pace Pace
	// Waiting, if not nil, is called when the session has waited for a second for memory, which other sessions have, and what it returns
	// when that has ended, with the context of the waiting.
	Waiting func() (ended func(context.Context))
	// Print gets what scripts print, line by line: at most 64 lines of 256 bytes. It may be called on any goroutine, on one at
	// a time. Nil drops it.
	Print func(line string)
}

// Open begins a session: one run's use of children. A child starts when the first script is used. Close ends the session.
func (p *Pool) Open(options Options) *Session {
	if options.ObjectTimeout == 0 {
		options.ObjectTimeout = 2 * time.Second
	}
	if options.AggregateTimeout == 0 {
		options.AggregateTimeout = time.Minute
	}
	if options.Memory == 0 {
		options.Memory = defaultMemory
	}
	s := p.newSession(options)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		s.cancel()
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
