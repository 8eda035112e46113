// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// printLines and printLength bound what scripts print in one session.
	printLines, printLength = 64, 256
	// maxWorkers is how many children judge for one session at most.
	maxWorkers = 2
)

// Session is one run's use of children. It is safe for concurrent use.
type Session struct {
	pool    *Pool
	options Options
	prepaid bool // its memory is set aside
	ctx     context.Context
	cancel  context.CancelFunc
	// busy counts the goroutines that use workers.
	busy sync.WaitGroup
	// free are the workers that nobody has.
	free chan *worker
	took atomic.Int64

	mu        sync.Mutex
	waiters   int           // for memory
	waitsFor  time.Time     // since when there have been waiters
	waited    time.Duration // before that
	closed    bool
	workers   int
	growing   int   // workers that want to be the only one, and wait for more memory
	collects  int   // how many aggregates are open
	large     int64 // how much memory an aggregate needs, in bytes, if a small child is not enough
	begun     int64 // large, when the last aggregate began
	aggregate uint32
	exhausted int
	last      error // of exhausted
	printed   int
	batches   []*batch // for use again
}

func (p *Pool) newSession(options Options) *Session {
	s := &Session{pool: p, options: options, free: make(chan *worker, maxWorkers), workers: 1}
	large, _ := p.outgrown.Get(options.Owner)
	s.large, _ = large.(int64)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.free <- &worker{session: s}
	return s
}

// Close ends what is going on, and the children. It returns when they are gone.
func (s *Session) Close() {
	s.mu.Lock()
	closed, workers := s.closed, s.workers
	s.closed = true
	s.mu.Unlock()
	if closed {
		return
	}
	s.cancel()
	s.busy.Wait()
	for range workers {
		(<-s.free).retire()
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	delete(s.pool.sessions, s)
}

// use calls work with a worker, unless the context or the session ends before.
func (s *Session) use(ctx context.Context, work func(ctx context.Context, w *worker) error) error {
	s.mu.Lock()
	if s.closed || s.ctx.Err() != nil {
		s.mu.Unlock()
		return ErrClosed
	}
	s.busy.Add(1)
	s.mu.Unlock()
	defer s.busy.Done()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(ErrClosed) })()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case w := <-s.free:
		begin := time.Now()
		defer func() {
			s.took.Add(int64(time.Since(begin) - w.waited))
			w.waited = 0
			s.free <- w
		}()
		return work(ctx, w)
	}
}

// waits takes note that somebody waits for memory. What it returns ends that.
func (s *Session) waits() (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiters == 0 {
		s.waitsFor = time.Now()
	}
	s.waiters++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.waiters--; s.waiters == 0 {
			s.waited += time.Since(s.waitsFor)
		}
	}
}

// Waited is how long the session has waited so far until other sessions gave back memory, and whether it does so just now.
func (s *Session) Waited() (all time.Duration, now bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiters > 0 {
		return s.waited + time.Since(s.waitsFor), true
	}
	return s.waited, false
}

// Took is how long the scripts and their processes have been at work so far, all together. It is 0 if none has been used.
func (s *Session) Took() time.Duration { return time.Duration(s.took.Load()) }

// Evaluate judges one object.
func (s *Session) Evaluate(ctx context.Context, source string, o object.Object) (lua.Match, error) {
	return s.EvaluateWith(ctx, source, o, nil)
}

// EvaluateWith judges one object with data, as Stream.AddWith takes it.
func (s *Session) EvaluateWith(ctx context.Context, source string, o object.Object, data object.JSON) (lua.Match, error) {
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
	s.last = &objectError{o.String(), err}
}

// objectError says at which object an error came.
type objectError struct {
	object string
	err    error
}

// Error names the object first.
func (e *objectError) Error() string { return e.object + ": " + e.err.Error() }

func (s *Session) print(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.options.Print == nil || s.printed == printLines || len(line) > printLength {
		return
	}
	s.printed++
	s.options.Print(line)
}

// collecting says whether an aggregate is open.
func (s *Session) collecting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.collects > 0
}

// enlarge takes note that an aggregate needs a child of so many bytes: the next one has it, also in sessions of the same owner that come.
func (s *Session) enlarge(to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.large = max(s.large, to)
	if s.options.Owner != "" {
		s.pool.outgrown.Add(s.options.Owner, s.large)
	}
}

// begins is with how much memory a child begins.
func (s *Session) begins() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.collects > 0 && s.begun > 0 {
		return s.begun
	}
	return min(smallMemory, s.options.Memory)
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
	if cap(b.items) <= 2*batchSize && len(s.batches) < maxWorkers+2 {
		s.batches = append(s.batches, b)
	}
}
