// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package executor

import (
	"context"

	"github.com/kubecleaner/kubecleaner/pkg/fault"
)

// work carries out the next run. It returns false when there will be none.
func (e *Executor[R]) work(base context.Context) bool {
	ctx, request, ok := e.begin(base)
	if !ok {
		return false
	}
	result, again := e.call(ctx, request)
	if e.end(ctx, request.Name, result, again) {
		e.finished(request.Name)
	}
	e.release(request.Name)
	return true
}

// begin waits for a request that may begin.
func (e *Executor[R]) begin(base context.Context) (context.Context, Request, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		if e.stopped {
			return nil, Request{}, false
		}
		if request, room, ok := e.take(); ok {
			e.wake.Signal() // there may be room for more
			ctx, cancel := context.WithCancelCause(base)
			e.taken[request.Name] = struct{}{}
			e.inProgress[request.Name] = progress{request: request, room: room, started: e.clock.Now(), cancel: cancel}
			return ctx, request, true
		}
		e.wake.Wait()
	}
}

// end keeps the result, or the request that takes its place. The name stays taken until release, so that finished is
// called for one run before the next begins.
func (e *Executor[R]) end(ctx context.Context, name string, result Result[R], again *Request) (finished bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, stopped := e.inProgress[name], ctx.Err() != nil
	p.cancel(nil)
	delete(e.inProgress, name)
	room := &e.queue.free[p.room]
	room.Workers++
	room.Weight += p.request.Weight
	switch _, replaced := e.dirty[name]; {
	case replaced:
	case again != nil && !stopped:
		e.dirty[name] = ticket{request: *again}
		return false
	default:
		e.results[name] = result
	}
	return true
}

func (e *Executor[R]) release(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.taken, name)
	if again, ok := e.dirty[name]; ok && !e.stopped {
		e.enqueue(again)
	}
	e.wake.Signal()
}

// call turns a panic of the run into that run's failure.
func (e *Executor[R]) call(ctx context.Context, request Request) (result Result[R], again *Request) {
	result.Request = request
	result.Err = fault.Logged(ctx, func() error {
		result.Value, again = e.run(ctx, request)
		return nil
	})
	return result, again
}
