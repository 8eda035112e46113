// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// tableSize is what an object costs in a child beside its own bytes: the tables that a usual script makes of it.
	tableSize = 4 << 10
	// ownSize is what a child has of its own, the batch that it reads and what its collector has not collected yet among it.
	ownSize = 6 << 20
)

// Aggregate collects objects in the child, and then lets a script choose among them. The parent keeps only who they are, and a
// hash of each one's bytes. It is for one goroutine.
type Aggregate struct {
	// Keep, if not nil, is asked before the bytes of an object that the script chose are kept. Its error is that of Finish.
	Keep func(bytes int) error
	// NamesOnly leaves out the bytes of what the script chose.
	NamesOnly bool

	session *Session
	source  string
	number  uint32
	// whole keeps metadata.managedFields, about half of an object, for the script that reads them.
	whole   bool
	members members
	// filling are the objects that were not sent yet, those after the first sent ones.
	filling *batch
	sent    int
	// flight is a batch on its way to the child. Nil when there is none.
	flight *flight
	// home is the child that has the objects, and lost why it has them no more.
	home     *process
	lost     error
	finished bool
}

// Selected is an object that an aggregated script chose.
type Selected struct {
	// Index is the object's place in the order of Add.
	Index int
	// Object has its bytes again, unless NamesOnly is set, and without metadata.managedFields unless the script mentions them.
	Object object.Object
	// Message is at most 1 KiB, without control characters.
	Message string
}

// Aggregate begins to collect. Call it before the session's other scripts run: the child must have room for the objects.
func (s *Session) Aggregate(source string) *Aggregate {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.collects++
	s.aggregate++
	return &Aggregate{session: s, source: source, number: s.aggregate, whole: strings.Contains(source, "managedFields")}
}

// Add adds an object. When the child is lost, so are its objects: Add then does nothing, and Finish says why.
func (a *Aggregate) Add(ctx context.Context, o object.Object) error {
	if a.finished {
		return ErrClosed
	}
	if a.filling != nil && !a.filling.accepts(o, nil) {
		if err := a.send(ctx); err != nil {
			return err
		}
	}
	if a.filling == nil {
		a.filling = a.session.batchFor(o.Kind)
	}
	if a.whole {
		a.filling.add(o, nil)
	} else {
		a.filling.addWithoutManagedFields(o)
	}
	a.members.add(o, a.filling.object(a.filling.len()-1).Raw)
	return nil
}

// Truncate forgets all but the first n objects.
func (a *Aggregate) Truncate(n int) {
	if n < 0 || n >= a.members.count {
		return
	}
	a.members.truncate(n)
	if a.filling != nil {
		if a.filling.truncate(max(0, n-a.sent)); a.filling.len() == 0 {
			a.session.recycle(a.filling) // the next objects may be of another kind
			a.filling = nil
		}
	}
	a.sent = min(a.sent, n) // the child is told with the next objects, or at the end
}

// Finish lets the script choose. The order is the script's. It can be called once.
func (a *Aggregate) Finish(ctx context.Context) ([]Selected, error) {
	if a.finished {
		return nil, ErrClosed
	}
	a.finished = true
	defer a.session.collected()
	if a.filling != nil && a.filling.len() > 0 {
		if err := a.send(ctx); err != nil {
			return nil, err
		}
	}
	if err := a.land(ctx); err != nil {
		return nil, err
	}
	var selected []Selected
	err := a.session.use(ctx, func(ctx context.Context, w *worker) error {
		defer w.retire() // the objects' memory is for others now
		var err error
		selected, err = a.choose(ctx, w)
		return err
	})
	if err != nil {
		return nil, err
	}
	return selected, nil
}

// collected ends the claim to a large child.
func (s *Session) collected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.collects--
}

// send hands what was filled to the child, when the objects before have arrived.
func (a *Aggregate) send(ctx context.Context) error {
	if err := a.land(ctx); err != nil {
		return err
	}
	f := &flight{batch: a.filling, done: make(chan struct{})}
	first, need, count := a.sent, a.need(), a.members.count
	a.flight, a.filling, a.sent = f, nil, a.sent+f.batch.len()
	go func() {
		defer close(f.done)
		f.err = a.session.use(ctx, func(ctx context.Context, w *worker) error { return a.deliver(ctx, w, f.batch, first, need, count) })
	}()
	return nil
}

// land waits for the objects that are on their way.
func (a *Aggregate) land(ctx context.Context) error {
	if a.flight == nil {
		return nil
	}
	select {
	case <-a.flight.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	f := a.flight
	a.flight = nil
	a.session.recycle(f.batch)
	return f.err
}

// need is how much memory the child needs for all objects, in bytes.
func (a *Aggregate) need() int64 {
	need := (a.members.size + int64(a.members.count)*tableSize + ownSize) / 7 * 8 // an eighth stays free, or the collector does not come to rest
	return (need + memoryStep - 1) / memoryStep * memoryStep
}

// deliver gives objects to the child.
func (a *Aggregate) deliver(ctx context.Context, w *worker, b *batch, first int, need int64, count int) error {
	if err := a.settle(ctx, w, first); err != nil || a.lost != nil {
		return err
	}
	if need > w.reserved {
		grown, err := w.grow(ctx, need)
		if err == nil && !grown {
			err = a.tooMany(count, need)
		}
		if err != nil {
			return a.lose(err, w, count, need)
		}
	}
	request := b.request(askCollect, uint32(first), 0, b.len())
	request[0] = binary.LittleEndian.AppendUint32(request[0], a.number)
	_, err := w.one(ctx, a.session.options.ObjectTimeout+grace+silence, request, answerReady)
	return a.lose(err, w, count, need)
}

// settle makes sure that there is one child, and that it is the one that has the objects.
func (a *Aggregate) settle(ctx context.Context, w *worker, first int) error {
	if err := a.session.shrink(ctx); err != nil {
		return err
	}
	if err := w.ready(ctx); err != nil {
		return err
	}
	if first == 0 {
		a.home, a.lost = w.process, nil
	}
	if a.home != w.process && a.lost == nil {
		a.lost = errors.New("the objects were lost when another script of the same run ended the process that had them")
	}
	return nil
}

// lose makes the error for objects that did not get into the child, and keeps it.
func (a *Aggregate) lose(err error, w *worker, count int, need int64) error {
	var died *death
	switch {
	case errors.As(err, &died) && died.kind != BudgetMemory:
		err = died.budget(w.reserved, a.session.options.ObjectTimeout)
	case died != nil:
		err = a.tooMany(count, max(need, w.reserved+memoryStep))
	}
	if err != nil {
		a.lost = err
	}
	return err
}

func (a *Aggregate) tooMany(count int, need int64) *BudgetError {
	return &BudgetError{BudgetObjects, fmt.Sprintf(
		"the %d objects selected so far need about %s of memory at once, and that cannot be had now: select fewer, or raise --max-script-memory",
		count, inMiB(need))}
}
