// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// MaxTries is how often objects are given to an aggregated script, when they are lost: a child can have 64, 128 or 256 MiB, or what is for all.
const MaxTries = 4

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
	home   *process
	lost   error
	closed bool
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

// Aggregate begins to collect. Close ends it.
func (s *Session) Aggregate(source string) *Aggregate {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.collects++
	s.aggregate++
	s.begun = s.large
	return &Aggregate{session: s, source: source, number: s.aggregate, whole: strings.Contains(source, "managedFields")}
}

// Ready returns when the child can have objects, if it is known that a small one is not enough: otherwise their list would stay open
// while the aggregate waits for memory.
func (a *Aggregate) Ready(ctx context.Context) error {
	return a.session.use(ctx, func(ctx context.Context, w *worker) error {
		if w.wanted() <= smallMemory {
			return nil
		}
		return w.ready(ctx)
	})
}

// Add adds an object. When another script ends the child, the objects are lost, and Finish says so. An error ends the aggregate. After a
// *LostError another aggregate of the session may be given the objects once more.
func (a *Aggregate) Add(ctx context.Context, o object.Object) error {
	if a.closed {
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

// Finish lets the script choose, and closes the aggregate. The order is the script's. After a *LostError another aggregate of the
// session may be given the objects once more.
func (a *Aggregate) Finish(ctx context.Context) ([]Selected, error) {
	if a.closed {
		return nil, ErrClosed
	}
	defer a.Close()
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

// Choose lets an aggregated script choose among objects, and gives them to it once more if they are lost.
func (s *Session) Choose(ctx context.Context, source string, objects []object.Object) ([]Selected, error) {
	var selected []Selected
	var err error
	for range MaxTries {
		selected, err = s.chooseOnce(ctx, source, objects)
		var lost *LostError
		if !errors.As(err, &lost) {
			break
		}
	}
	return selected, err
}

func (s *Session) chooseOnce(ctx context.Context, source string, objects []object.Object) ([]Selected, error) {
	a := s.Aggregate(source)
	defer a.Close()
	if err := a.Ready(ctx); err != nil {
		return nil, err
	}
	for _, o := range objects {
		if err := a.Add(ctx, o); err != nil {
			return nil, err
		}
	}
	return a.Finish(ctx)
}

// Close ends the aggregate: the session may have a second child again.
func (a *Aggregate) Close() {
	if a.closed {
		return
	}
	a.closed = true
	a.session.mu.Lock()
	defer a.session.mu.Unlock()
	a.session.collects--
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
