// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package broadcast lets runs that go on at the same time, and want the same list, read it together: one reads, and all
// hear.
package broadcast

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

const (
	// gather is how much time there is at least between the beginnings of two lists of the same objects, while several
	// runs go on: runs that want one meanwhile wait for the second, and read it together. So there are at most five in
	// any second, and a run that is alone waits for nothing.
	gather = 200 * time.Millisecond
	// dueTogether is how long a run waits with its first list while others go on: they may have been due with it, and want
	// the same.
	dueTogether = 50 * time.Millisecond
	// together is how long a run that read its last list with others waits for them before it begins the next one: that of
	// another namespace, mostly.
	together = 10 * time.Millisecond
)

// Lists are the lists that runs read together. None gets a list that had begun before it asked for it, so its view is
// never older than it would be otherwise. Nil Lists let nobody share anything.
type Lists struct {
	clock clock.WithDelayedExecution

	mu sync.Mutex
	// runs is how many runs are in progress.
	runs int
	// gatherings are by the keys of the lists.
	gatherings map[any]*gathering
}

// New returns Lists of which none is read yet.
func New(clk clock.WithDelayedExecution) *Lists {
	return &Lists{clock: clk, gatherings: map[any]*gathering{}}
}

// gathering is what is known of the lists of the same objects.
type gathering struct {
	// begun is when the latest one began, and by is whose it is. Nil when it is of several runs.
	begun time.Time
	by    *Run
	// next is the one that runs wait for. Nil when none does.
	next *broadcast
}

// Enter says that a run begins; it calls leave at its end.
func (l *Lists) Enter() (leave func()) {
	if l == nil {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.runs--
	})
}

// Run is one of the runs that read.
type Run struct {
	lists *Lists
	// waits is how long the run waits, among others, for those who may want its next list, in nanoseconds. Not at all when
	// nobody wanted its last one.
	waits atomic.Int64
}

// Run begins a run's reading. Of nil Lists it is nil: such a run reads alone.
func (l *Lists) Run() *Run {
	if l == nil {
		return nil
	}
	r := &Run{lists: l}
	r.waits.Store(int64(dueTogether))
	return r
}

// Hearer hears a list.
type Hearer struct {
	// Restart is called when the list begins, and whenever it begins anew, and Each with each object. The bytes are valid
	// only during the call.
	Restart func() error
	Each    func(raw []byte) error
	// Trouble, if not nil, is called when the list does not go on at present. Its argument makes an error of the trouble
	// and of another cause, for one who does not wait any longer. The argument is nil when the list goes on.
	Trouble func(stopped func(cause error) error)
}

// Source reads one list to its end.
type Source func(ctx context.Context, hearer Hearer) error

// Read reads a list, or hears it together with other runs that want the one with the same key meanwhile. The key says
// what is asked for, and as whom: two lists with one key must be the same for both.
func (r *Run) Read(ctx context.Context, key any, source Source, hearer Hearer) error {
	if r == nil {
		return source(ctx, hearer)
	}
	listener := r.lists.join(r, key, source)
	if listener == nil {
		r.waits.Store(0)
		return source(ctx, hearer)
	}
	err := listener.hear(ctx, hearer)
	r.waits.Store(int64(together))
	if errors.Is(err, errAlone) {
		r.waits.Store(0)
		r.lists.own(r, key)
		return source(ctx, hearer)
	}
	return err
}

// own takes note that the latest list of some objects is of one run alone, for which the next one need not wait.
func (l *Lists) own(r *Run, key any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g := l.gatherings[key]; g != nil {
		g.begun, g.by = l.clock.Now(), r
	}
}

// join makes the caller one of those who wait for the next list. It returns nil to who shall read one at once, alone.
func (l *Lists) join(r *Run, key any, source Source) *listener {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	g, wait := l.gatherings[key], time.Duration(r.waits.Load())
	if g != nil {
		wait = gather - l.clock.Since(g.begun)
	}
	switch {
	case g != nil && g.next != nil:
	case l.runs < 2, g == nil && wait == 0, g != nil && g.by == r:
		l.gatherings[key] = &gathering{begun: l.clock.Now(), by: r}
		return nil
	default:
		if g == nil {
			g = &gathering{}
			l.gatherings[key] = g
		}
		g.next = newBroadcast(l.clock)
		l.clock.AfterFunc(wait, func() { l.begin(g).read(source) })
	}
	return g.next.listen()
}

// forget drops what does not matter any more.
func (l *Lists) forget() {
	for key, g := range l.gatherings {
		if g.next == nil && l.clock.Since(g.begun) >= gather {
			delete(l.gatherings, key)
		}
	}
}

// begin ends the wait for a list: who comes later waits for another one.
func (l *Lists) begin(g *gathering) *broadcast {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := g.next
	if b.isWanted() {
		g.begun, g.by = l.clock.Now(), nil
	}
	g.next = nil
	return b
}
