// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import "context"

// addWorker adds a second worker, if its memory can be had without waiting. Not beside an aggregate: its child has the
// objects, and whoever waits for memory must hold none.
func (s *Session) addWorker() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	memory := min(smallMemory, s.options.Memory)
	if s.workers == maxWorkers || s.growing > 0 || s.collects > 0 || s.closed {
		return false
	}
	room := s.pool.room // of which a second child has only the part that is set aside for nobody
	reserved, ok := room.take(wish{memory, []*share{&room.general}})
	if !ok {
		return false
	}
	s.workers++
	s.free <- &worker{session: s, reserved: memory, reservation: reserved}
	return true
}

// keepOthersAway keeps addWorker from adding a worker, until what it returns is called: its memory may be what a larger child waits for.
func (s *Session) keepOthersAway() (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.growing++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.growing--
	}
}

// shrink takes the other worker away, if there is one. Who calls it has a worker, and keeps others away.
func (s *Session) shrink(ctx context.Context) error {
	s.mu.Lock()
	before := s.workers
	s.workers = 1
	s.mu.Unlock()
	if before == 1 { // or another one is about to take it away
		return nil
	}
	select {
	case other := <-s.free:
		other.retire()
		return nil
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		s.workers = before
		return context.Cause(ctx)
	}
}

// Rest ends the children that nobody uses, and gives their memory back. What comes next has new ones.
func (s *Session) Rest() {
	var rested []*worker
	for {
		select {
		case w := <-s.free:
			w.retire()
			rested = append(rested, w)
			continue
		default:
		}
		break
	}
	for _, w := range rested {
		s.free <- w
	}
}
