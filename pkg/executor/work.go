// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package executor

import (
	"context"
	"fmt"
	"runtime/debug"
)

// work carries out the next run. It returns false when there will be none.
func (e *Executor[R]) work(base context.Context) bool {
	ctx, request, ok := e.begin(base)
	if !ok {
		return false
	}
	result := e.call(ctx, request)
	e.end(request.Name, result)
	e.finished(request.Name)
	e.release(request.Name)
	return true
}

// begin waits for a request that may begin.
func (e *Executor[R]) begin(base context.Context) (context.Context, Request, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		if e.stopped || e.giveUp() {
			return nil, Request{}, false
		}
		if request, ok := e.take(); ok {
			ctx, cancel := context.WithCancelCause(base)
			e.taken[request.Name] = struct{}{}
			e.inProgress[request.Name] = progress{request: request, started: e.clock.Now(), cancel: cancel}
			return ctx, request, true
		}
		e.wake.Wait()
	}
}

// end keeps the result. The name stays taken until release, so that finished is called for one run before the next begins.
func (e *Executor[R]) end(name string, result Result[R]) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inProgress[name].cancel(nil)
	delete(e.inProgress, name)
	if _, again := e.dirty[name]; !again {
		e.results[name] = result
	}
}

func (e *Executor[R]) release(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.taken, name)
	if again, ok := e.dirty[name]; ok && !e.stopped {
		e.enqueue(again)
	}
}

// call turns a panic of the run into that run's failure.
func (e *Executor[R]) call(ctx context.Context, request Request) (result Result[R]) {
	result.Request = request
	defer func() {
		if r := recover(); r != nil {
			result.Err = fmt.Errorf("the run panicked: %v\n%s", r, debug.Stack())
		}
	}()
	result.Value = e.run(ctx, request)
	return result
}
