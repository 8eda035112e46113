// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"os/exec"
	"runtime"
	"sync"
)

// starter starts all children of a pool from one thread that lives as long as the pool: on Linux a child dies with the
// thread that started it, and Go ends threads as it likes.
type starter struct {
	mu      sync.Mutex
	orders  chan startOrder
	ended   chan struct{}
	stopped bool
}

type startOrder struct {
	cmd   *exec.Cmd
	reply chan error
}

func (s *starter) start(cmd *exec.Cmd) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return ErrClosed
	}
	if s.orders == nil {
		s.orders, s.ended = make(chan startOrder), make(chan struct{})
		go work(s.orders, s.ended)
	}
	order := startOrder{cmd, make(chan error, 1)}
	s.orders <- order
	return <-order.reply
}

// stop ends the thread. It is called when all children are gone.
func (s *starter) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.orders != nil && !s.stopped {
		close(s.orders)
		<-s.ended
	}
	s.stopped = true
}

func work(orders <-chan startOrder, ended chan<- struct{}) {
	defer close(ended)
	// Never unlocked: the thread has attributes of its own and ends with this function.
	runtime.LockOSThread()
	giveUpPrivileges()
	for order := range orders {
		order.reply <- order.cmd.Start()
	}
}
