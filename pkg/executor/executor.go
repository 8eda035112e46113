// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package executor is a pool of workers that carries out runs, one at a time for each name. It knows a RunFunc, how
// much a run weighs and in which lane it goes, and not what a run does.
//
// The bookkeeping is that of client-go's workqueue: a name that is submitted is dirty; a dirty name waits in the queue,
// unless it is in progress, in which case it is queued again when it is done. So a name never runs twice at once, and
// submitting it while it runs makes it run once more. Nothing polls: workers sleep until the queue wakes them. The
// queue is not the workqueue itself, because it is fair in a way of its own: see queue.
package executor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// ErrStopping is the cause of a run's cancelled context when the executor stops.
var ErrStopping = errors.New("the operator is stopping")

// Request asks for one run.
type Request struct {
	// Name is what never runs twice at once.
	Name string
	// Owner distinguishes those that had the name one after the other.
	Owner string
	// Nominal is when the run was due.
	Nominal time.Time
	// Spec says by which version of what the name stands for it was asked for.
	Spec string
	// Account is as whom it was asked for.
	Account string
	// Manual is true for a run that somebody asked for.
	Manual bool
	// WhileSuspended is true for a run that was asked for although the schedule was stopped.
	WhileSuspended bool
	// Lane is what is known of how long the run takes, and Weight how much room it needs.
	Lane   Lane
	Weight int64
}

// RunFunc carries out a run. It returns soon after its context is cancelled; context.Cause says why it was. Again, if
// not nil, is a request that takes the run's place, which then has no result: it needs more room than it had.
type RunFunc[R any] func(ctx context.Context, request Request) (value R, again *Request)

// Result is how a run ended.
type Result[R any] struct {
	Request Request
	// Value is what the RunFunc returned, unless Err is set.
	Value R
	// Err is set when the RunFunc panicked.
	Err error
}

// Executor carries out runs, as many at once as there is room for.
type Executor[R any] struct {
	run      RunFunc[R]
	finished func(name string)
	clock    clock.PassiveClock

	mu sync.Mutex
	// wake says that something may have come within a worker's reach.
	wake  *sync.Cond
	queue queue
	// dirty are the requests that no worker has taken yet. What is in the queue and not here was cancelled.
	dirty map[string]ticket
	// taken are the names that a worker has, and inProgress the runs that it is carrying out.
	taken      map[string]struct{}
	inProgress map[string]progress
	// results are how runs ended. A result stays until it is dropped or the name is submitted again, so that reading it is
	// idempotent.
	results map[string]Result[R]
	stopped bool
}

type progress struct {
	request Request
	room    Lane
	started time.Time
	cancel  context.CancelCauseFunc
}

// New returns an executor that calls finished, from the worker, after the result of each run can be read.
func New[R any](rooms Rooms, run RunFunc[R], finished func(name string), clk clock.PassiveClock) *Executor[R] {
	e := &Executor[R]{
		run: run, finished: finished, clock: clk,
		queue:      queue{free: rooms, own: rooms},
		dirty:      map[string]ticket{},
		taken:      map[string]struct{}{},
		inProgress: map[string]progress{},
		results:    map[string]Result[R]{},
	}
	e.wake = sync.NewCond(&e.mu)
	return e
}

// NeedLeaderElection says that only the leader runs anything.
func (e *Executor[R]) NeedLeaderElection() bool { return true }

// Start works until ctx is cancelled; then it cancels what is in progress with ErrStopping and returns when all of it
// has returned. What was waiting is forgotten.
func (e *Executor[R]) Start(ctx context.Context) error {
	base, workers := context.WithoutCancel(ctx), sync.WaitGroup{}
	for _, room := range e.queue.own {
		for range room.Workers {
			workers.Go(func() {
				for e.work(base) {
				}
			})
		}
	}
	<-ctx.Done()
	e.stop()
	workers.Wait()
	return nil
}

func (e *Executor[R]) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = true
	clear(e.dirty)
	for _, p := range e.inProgress {
		p.cancel(ErrStopping)
	}
	e.wake.Broadcast()
}

// Submit asks for a run. A request that still waits for the same name is replaced; the result of its last run is
// dropped.
func (e *Executor[R]) Submit(request Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return
	}
	waits, again := e.dirty[request.Name]
	e.dirty[request.Name] = ticket{request, waits.number}
	delete(e.results, request.Name)
	if _, taken := e.taken[request.Name]; !again && !taken {
		e.enqueue(e.dirty[request.Name])
	}
}

// Cancel takes back a request that waits, and cancels the context of a run in progress with the given cause.
func (e *Executor[R]) Cancel(name string, cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.dirty, name)
	e.wake.Signal() // others may have waited for its turn
	if p, ok := e.inProgress[name]; ok {
		p.cancel(cause)
	}
}

// Lighten gives back what a run in progress does not need any more of its weight.
func (e *Executor[R]) Lighten(name string, weight int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, ok := e.inProgress[name]
	if !ok || p.request.Weight <= weight {
		return
	}
	e.queue.free[p.room].Weight += p.request.Weight - weight
	p.request.Weight = weight
	e.inProgress[name] = p
	e.wake.Signal()
}

// Forget cancels the name, and drops its result too.
func (e *Executor[R]) Forget(name string, cause error) {
	e.Cancel(name, cause)
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.results, name)
}

// Keep cancels what is not the owner's, and drops its result.
func (e *Executor[R]) Keep(name, owner string, cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if waits, ok := e.dirty[name]; ok && waits.request.Owner != owner {
		delete(e.dirty, name)
		e.wake.Signal()
	}
	if p, ok := e.inProgress[name]; ok && p.request.Owner != owner {
		p.cancel(cause)
	}
	if result, ok := e.results[name]; ok && result.Request.Owner != owner {
		delete(e.results, name)
	}
}

// Active returns the request that is in progress or, if none is, the one that waits.
func (e *Executor[R]) Active(name string) (Request, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p, ok := e.inProgress[name]; ok {
		return p.request, true
	}
	waits, ok := e.dirty[name]
	return waits.request, ok
}

// Result returns how the last run of the name ended, if it ended since its last Submit.
func (e *Executor[R]) Result(name string) (Result[R], bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	result, ok := e.results[name]
	return result, ok
}

// Drop drops the result of a run of the name, when nobody needs it any more.
func (e *Executor[R]) Drop(name string, nominal time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.results[name].Request.Nominal.Equal(nominal) {
		delete(e.results, name)
	}
}

// Overdue returns an error that names the runs in progress for longer than limit: their workers hang.
func (e *Executor[R]) Overdue(limit time.Duration) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	for name, p := range e.inProgress {
		if age := e.clock.Since(p.started); age > limit {
			errs = append(errs, fmt.Errorf("the run of %s has been going on for %s", name, age.Round(time.Second)))
		}
	}
	return errors.Join(errs...)
}
