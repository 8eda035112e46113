// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import "runtime"

// SecondMemory is what the pool's second worker may use, in bytes. It is no session's.
const SecondMemory = SmallMemory

// newSecond is the right to a second worker. One session of a pool has it at a time, so it is known how much memory all
// of them use. Where there is a single CPU, nobody has it.
func newSecond() chan struct{} {
	second := make(chan struct{}, 1)
	if runtime.GOMAXPROCS(0) > 1 {
		second <- struct{}{}
	}
	return second
}

// borrow returns the place of a second worker, or nil if another session has it, or if this session needs more memory
// than it may use.
func (s *Session) borrow() place {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.options.Memory > SecondMemory || s.isClosed() {
		return nil
	}
	select {
	case <-s.pool.second:
		s.second = make(place, 1)
		s.second <- &worker{session: s}
		return s.second
	default:
		return nil
	}
}

// giveBack ends the second worker, if this session has it, after the batch that it judges.
func (s *Session) giveBack() {
	s.mu.Lock()
	second := s.second
	s.second = nil
	s.mu.Unlock()
	if second == nil {
		return
	}
	w := <-second
	w.bury()
	s.pool.second <- struct{}{}
}
