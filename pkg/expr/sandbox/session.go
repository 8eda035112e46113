// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// printLines and printLength bound what scripts print in one session.
	printLines, printLength = 64, 256
	// maxBatches is how many batches are kept for use again.
	maxBatches = 3
)

// Session is one run's use of a child. It is safe for concurrent use.
type Session struct {
	pool    *Pool
	options Options
	// closed is closed by end, once.
	closed chan struct{}
	end    func()
	// free has the worker while nobody uses it. It is closed at the end.
	free place
	took atomic.Int64

	mu        sync.Mutex
	aggregate uint32
	exhausted int
	last      error // of exhausted
	printed   int
	batches   []*batch // for use again
	second    place    // while the pool's second worker is here
}

// place has a worker while nobody uses it.
type place chan *worker

func (p *Pool) newSession(options Options) *Session {
	s := &Session{pool: p, options: options, free: make(place, 1), closed: make(chan struct{})}
	s.end = sync.OnceFunc(func() { close(s.closed) })
	s.free <- &worker{session: s}
	return s
}

// Close ends what is going on, and the child. It returns when that is gone.
func (s *Session) Close() {
	s.end()
	s.giveBack()
	w, ok := <-s.free
	if !ok {
		return
	}
	w.bury()
	close(s.free)
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	delete(s.pool.sessions, s)
}

// use calls work with the worker, unless the context or the session ends before.
func (s *Session) use(ctx context.Context, work func(ctx context.Context, w *worker) error) error {
	return s.useAt(ctx, s.free, work)
}

// useAt is use, for the worker of a place.
func (s *Session) useAt(ctx context.Context, at place, work func(ctx context.Context, w *worker) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-s.closed:
			cancel(ErrClosed)
		case <-ctx.Done():
		}
	}()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case w, ok := <-at:
		if !ok {
			return ErrClosed
		}
		begin := s.pool.clock.Now()
		defer func() {
			s.took.Add(int64(s.pool.clock.Since(begin)))
			at <- w
		}()
		if s.isClosed() {
			return ErrClosed
		}
		return work(ctx, w)
	}
}

func (s *Session) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// Rest ends the child, when nobody uses it. What comes next has a new one. If that is small, it has no more than
// SmallMemory.
func (s *Session) Rest(small bool) {
	w := <-s.free
	defer func() { s.free <- w }()
	w.bury()
	if small {
		s.options.Memory = min(s.options.Memory, SmallMemory)
	}
}

// outgrown reports whether more memory might help a child that died so. Then the session's work is to be begun anew
// with more.
func (s *Session) outgrown(died *death) bool {
	return died.kind == BudgetMemory && s.options.Memory < s.pool.most
}

// fault is the error for the script that ended a child.
func (s *Session) fault(died *death, limit time.Duration) error {
	if s.outgrown(died) {
		return &OutgrownError{s.options.Memory, false}
	}
	return died.budget(s.options.Memory, limit)
}

// Took is how long the scripts and their process have been at work so far. It is 0 if none has been used.
func (s *Session) Took() time.Duration { return time.Duration(s.took.Load()) }

// Evaluate judges one object.
func (s *Session) Evaluate(ctx context.Context, source string, o object.Object) (lua.Match, error) {
	return s.EvaluateWith(ctx, source, o, nil)
}

// EvaluateWith judges one object with data, as Stream.AddWith takes it.
func (s *Session) EvaluateWith(
	ctx context.Context,
	source string,
	o object.Object,
	data object.JSON,
) (lua.Match, error) {
	if err := checkData(data); err != nil {
		return lua.Match{}, err
	}
	b := newBatch(o.Kind)
	b.withData = data != nil
	b.add(o, data)
	err := s.use(ctx, func(ctx context.Context, w *worker) error { return s.judge(ctx, w, source, b) })
	if err != nil {
		return lua.Match{}, err
	}
	one := b.verdicts[0]
	return lua.Match{Matching: one.matching, Message: one.message}, one.err
}

// impatient returns the error of a session in which too many objects used up their time or memory.
func (s *Session) impatient() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exhausted < maxExhausted {
		return nil
	}
	return outOfPatience(s.last)
}

// exhaust counts an object that used up its time or memory.
func (s *Session) exhaust(o object.Object, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exhausted++
	s.last = fmt.Errorf("%s: %w", o, err)
}

func (s *Session) print(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.options.Print == nil || s.printed == printLines || len(line) > printLength {
		return
	}
	s.printed++
	s.options.Print(line)
}

// batchFor returns a batch that is empty.
func (s *Session) batchFor(kind object.Kind) *batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.batches)
	if n == 0 {
		return newBatch(kind)
	}
	b := s.batches[n-1]
	s.batches = s.batches[:n-1]
	b.kind = kind
	return b
}

// recycle keeps a batch for use again.
func (s *Session) recycle(b *batch) {
	b.reset()
	s.mu.Lock()
	defer s.mu.Unlock()
	if cap(b.items) <= 2*batchSize && len(s.batches) < maxBatches {
		s.batches = append(s.batches, b)
	}
}
