// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/fault"
)

const (
	// gather is how much time there is at least between the beginnings of two lists of the same objects, while several runs go on:
	// runs that want one meanwhile wait for the second, and read it together. So there are at most three in any second, and a run
	// that is alone waits for nothing.
	gather = 400 * time.Millisecond
	// dueTogether is how long a run waits with its first list while others go on: they may have been due with it, and want the same.
	dueTogether = 50 * time.Millisecond
	// together is how long a run that read its last list with others waits for them before it begins the next one: that of another
	// namespace, mostly.
	together = 10 * time.Millisecond
)

// Lists lets runs that go on at the same time, and want the same objects as the same account, read one list together. None gets
// a list that had begun before it asked for it, so its view is never older than it would be otherwise. The zero Lists is ready
// for use, and a nil one lets nobody share anything.
type Lists struct {
	mu sync.Mutex
	// runs is how many runs are in progress.
	runs int
	// gatherings are by what is asked for, and as whom.
	gatherings map[listKey]*gathering
}

type listKey struct {
	account string
	query   query
}

// gathering is what is known of the lists of the same objects.
type gathering struct {
	// begun is when the latest one began, and by is whose it is. Nil when it is of several runs.
	begun time.Time
	by    *Reader
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

// Sharing returns the Reader of one run, which reads its lists together with others who share the same Lists and account. The
// account is as whom the Reader's client reads: it must not be the same for two that may see different objects.
func (r *Reader) Sharing(lists *Lists, account string) *Reader {
	shared := *r
	shared.lists, shared.account, shared.waits = lists, account, &atomic.Int64{}
	shared.waits.Store(int64(dueTogether))
	return &shared
}

// list is listAlone, or the same together with others.
func (r *Reader) list(ctx context.Context, q query, restart func() error, each func([]byte) error) error {
	if r.lists == nil || q.slow {
		return r.listAlone(ctx, q, restart, each)
	}
	listener := r.lists.join(r, q, r.broadcast)
	if listener == nil {
		r.waits.Store(0)
		return r.listAlone(ctx, q, restart, each)
	}
	err := listener.hear(ctx, restart, each)
	r.waits.Store(int64(together))
	if errors.Is(err, errAlone) {
		r.waits.Store(0)
		r.lists.own(r, q)
		return r.listAlone(ctx, q, restart, each)
	}
	return err
}

// own takes note that the latest list of some objects is of one run alone, for which the next one need not wait.
func (l *Lists) own(r *Reader, q query) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g := l.gatherings[listKey{r.account, q}]; g != nil {
		g.begun, g.by = time.Now(), r
	}
}

// join makes the caller one of those who wait for the next list. It returns nil to who shall read one at once, alone.
func (l *Lists) join(r *Reader, q query, tell func(*broadcast)) *listener {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	key := listKey{r.account, q}
	g, wait := l.gatherings[key], time.Duration(r.waits.Load())
	if g != nil {
		wait = gather - time.Since(g.begun)
	}
	switch {
	case g != nil && g.next != nil:
	case l.runs < 2, g == nil && wait == 0, g != nil && g.by == r:
		l.gatherings[key] = &gathering{begun: time.Now(), by: r}
		return nil
	default:
		if g == nil {
			g = &gathering{}
			l.gatherings[key] = g
		}
		g.next = newBroadcast(q)
		time.AfterFunc(wait, func() { tell(l.begin(g)) })
	}
	return g.next.listen()
}

// forget drops what does not matter any more.
func (l *Lists) forget() {
	if l.gatherings == nil {
		l.gatherings = map[listKey]*gathering{}
	}
	for key, g := range l.gatherings {
		if g.next == nil && time.Since(g.begun) >= gather {
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
		g.begun, g.by = time.Now(), nil
	}
	g.next = nil
	return b
}

// broadcast reads a list for all who wait for it. It is in no run's context: not stopped with the one that came first, nor in its name.
func (r *Reader) broadcast(b *broadcast) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if !b.begin(stop) {
		return
	}
	telling := *r
	telling.onTrouble = b.setTrouble
	err := fault.Logged(ctx, func() error { return telling.listAlone(ctx, b.query, b.restart, b.add) })
	if p := (*fault.Error)(nil); errors.As(err, &p) {
		err = b.query.describe(p)
	}
	b.end(err)
}
