// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package executor

import (
	"context"
	"sync"
)

// maxPaused is how many runs may be paused for each worker: each holds memory and writes its progress.
const maxPaused = 5

// Pause lets another run have the turn of one in progress, while that waits for something which others have. What it returns waits for a
// turn again, which comes before those of runs that have not begun, unless ctx ends before. It is to be called, once. Where many runs are
// paused already, the run keeps its turn.
func (e *Executor[R]) Pause(name string) (resume func(ctx context.Context)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, ok := e.inProgress[name]
	if !ok || p.paused || e.stopped || e.base == nil || e.paused() >= maxPaused*e.workers {
		return func(context.Context) {}
	}
	p.paused = true
	e.inProgress[name] = p
	since := e.clock.Now()
	e.group.Go(e.workOn)
	return func(ctx context.Context) {
		turn := make(chan struct{})
		e.mu.Lock()
		if e.stopped {
			close(turn)
		} else {
			e.resuming = append(e.resuming, turn)
			e.wake.Broadcast()
		}
		e.mu.Unlock()
		select {
		case <-turn:
		case <-ctx.Done(): // the run is about to end; the turn is taken all the same, from whoever ends next
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		if p, ok := e.inProgress[name]; ok {
			p.paused = false
			p.started = p.started.Add(e.clock.Since(since)) // that it waited does not make it slow
			e.inProgress[name] = p
		}
	}
}

// paused is how many runs gave up their turns for now. One that waits for a turn does not count: it has what it waited for, and others
// must be able to give up a turn for it.
func (e *Executor[R]) paused() int {
	n := -len(e.resuming)
	for _, p := range e.inProgress {
		if p.paused {
			n++
		}
	}
	return n
}

// workOn carries out run after run.
func (e *Executor[R]) workOn() {
	for e.work(e.base) {
	}
}

// giveUp hands the turn of the calling worker to a run that waits to go on, if there is one. The worker then ends.
func (e *Executor[R]) giveUp() bool {
	if len(e.resuming) == 0 {
		return false
	}
	close(e.resuming[0])
	e.resuming = e.resuming[1:]
	return true
}

// turns is what Pause and its end need to know of the workers.
type turns struct {
	// base is the context of all runs. Nil before Start.
	base context.Context
	// group are the workers.
	group sync.WaitGroup
	// resuming are the runs that wait for a turn to go on, the longest first.
	resuming []chan struct{}
}
