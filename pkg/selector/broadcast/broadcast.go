// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package broadcast

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/fault"
)

const (
	// partSize is from how many bytes on objects are handed on. It is as much as one look at a list's progress is worth.
	partSize = 128 << 10
	// maxAhead is how many bytes the reader of a list may be ahead of the slowest of those who hear it.
	maxAhead = 2 << 20
	// patience is how long those who have heard all wait for slower ones, in one list. After that the slow ones read for
	// themselves.
	patience = 2 * time.Second
)

// errAlone makes a listener read the list for itself: nobody else wants it, or it is slower than the others.
var errAlone = errors.New("the list is to be read alone")

// broadcast is one list on its way to several runs. Each hears all of it, in its own goroutine and at its own pace.
type broadcast struct {
	clock clock.WithDelayedExecution

	mu sync.Mutex
	// changed is signaled whenever somebody who waits may go on.
	changed   *sync.Cond
	listeners map[*listener]bool
	// parts are what not all have heard yet; the first of them has the number first. size is their bytes.
	parts       []*part
	first, size int
	ended       bool
	err         error
	// trouble is what Hearer.Trouble was called with last.
	trouble func(cause error) error
	// stop ends the reading, when nobody hears it any more.
	stop func()
	held time.Duration // of patience

	// filling is for the goroutine that reads the list.
	filling *part
}

// part is a piece of a list: objects, or the word that the list begins anew. It does not change any more.
type part struct {
	restart bool
	text    []byte
	ends    []int // of the objects in text
}

func newBroadcast(clk clock.WithDelayedExecution) *broadcast {
	b := &broadcast{clock: clk, listeners: map[*listener]bool{}, filling: &part{}}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// listen adds one who hears the list, before it begins.
func (b *broadcast) listen() *listener {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := &listener{broadcast: b}
	b.listeners[l] = true
	return l
}

// isWanted says whether anybody waits for the list.
func (b *broadcast) isWanted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.listeners) > 0
}

func (b *broadcast) setTrouble(trouble func(cause error) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trouble = trouble
}

// stopped is the error of one who does not hear the list to its end.
func (b *broadcast) stopped(cause error) error {
	if b.trouble != nil {
		return b.trouble(cause)
	}
	return cause
}

// read reads the list for all who wait for it. It is in no run's context: not stopped with the one that came first, nor
// in its name.
func (b *broadcast) read(source Source) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if !b.begin(stop) {
		return
	}
	b.end(fault.Logged(ctx, func() error {
		return source(ctx, Hearer{Restart: b.restart, Each: b.add, Trouble: b.setTrouble})
	}))
}

// begin reports whether the list is worth reading for several. One alone reads it for itself.
func (b *broadcast) begin(stop func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stop = stop
	if len(b.listeners) > 1 {
		return true
	}
	for l := range b.listeners {
		b.detach(l)
	}
	return false
}

// restart says that the list begins anew.
func (b *broadcast) restart() error {
	b.filling = &part{} // what was not handed on yet need not be
	return b.publish(&part{restart: true})
}

// add delivers one object.
func (b *broadcast) add(raw []byte) error {
	p := b.filling
	p.text = append(p.text, raw...)
	p.ends = append(p.ends, len(p.text))
	if len(p.text) < partSize {
		return nil
	}
	return b.flush()
}

func (b *broadcast) flush() error {
	p := b.filling
	b.filling = &part{}
	if len(p.ends) == 0 {
		return nil
	}
	return b.publish(p)
}

// end says how the reading of the list ended.
func (b *broadcast) end(err error) {
	if err == nil {
		err = b.flush()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended, b.err = true, err
	b.changed.Broadcast()
}

// publish hands a part on when there is room for it.
func (b *broadcast) publish(p *part) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.listeners) > 0 && b.size > 0 && b.size+len(p.text) > maxAhead {
		b.makeRoom()
	}
	if len(b.listeners) == 0 {
		return errors.New("nobody wants the list any more")
	}
	b.parts = append(b.parts, p)
	b.size += len(p.text)
	b.changed.Broadcast()
	return nil
}

// makeRoom waits for the slowest, or leaves it behind where others have waited for it too long. A list that all hear
// slowly is read slowly.
func (b *broadcast) makeRoom() {
	if !b.someHaveHeardAll() {
		b.changed.Wait()
		return
	}
	if b.held < patience {
		begin := b.clock.Now()
		timer := b.clock.AfterFunc(patience-b.held, b.wake)
		b.changed.Wait()
		timer.Stop()
		b.held += b.clock.Since(begin)
		return
	}
	for l := range b.listeners {
		if l.next == b.first {
			b.detach(l)
		}
	}
	b.held = 0 // the others may have had no time yet to hear what came last
	b.drop()
}

func (b *broadcast) someHaveHeardAll() bool {
	for l := range b.listeners {
		if l.waiting && l.next == b.first+len(b.parts) {
			return true
		}
	}
	return false
}

func (b *broadcast) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed.Broadcast()
}

// detach lets a listener read the list for itself.
func (b *broadcast) detach(l *listener) {
	l.alone = true
	delete(b.listeners, l)
	b.changed.Broadcast()
}

// drop forgets the parts that all have heard.
func (b *broadcast) drop() {
	least := b.first + len(b.parts)
	for l := range b.listeners {
		least = min(least, l.next)
	}
	for ; b.first < least; b.first++ {
		b.size -= len(b.parts[0].text)
		b.parts[0] = nil
		b.parts = b.parts[1:]
		b.changed.Broadcast()
	}
}
