// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"regexp"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Aggregate collects objects in the child, and then lets a script choose among them. The parent keeps only who they
// are, and a hash of each one's bytes. It is for one goroutine.
type Aggregate struct {
	// Keep, if not nil, is asked before the bytes of an object that the script chose are kept. Its error is that of
	// Finish.
	Keep func(bytes int) error
	// NamesOnly leaves out the bytes of what the script chose.
	NamesOnly bool
	// Unchosen are the places, in the order of Add, of objects that the script may look at and not choose. If there are
	// any, it is asked with them and without them, and what it chooses both times is chosen, with the message of the
	// second time.
	Unchosen []int

	session *Session
	source  string
	number  uint32
	// whole keeps metadata.managedFields, about half of an object, for the script that reads them.
	whole bool
	// withoutData leaves out the data of Secrets.
	withoutData bool
	members     members
	// filling are the objects that were not sent yet, those after the first sent ones.
	filling *batch
	sent    int
	// flight is a batch on its way to the child. Nil when there is none.
	flight *flight
	// home is the child that has the objects, and fault why it has not all.
	home   *process
	fault  error
	closed bool
}

// Selected is an object that an aggregated script chose.
type Selected struct {
	// Index is the object's place in the order of Add.
	Index int
	// Object has its bytes again, unless NamesOnly is set, and without metadata.managedFields unless the script mentions
	// them.
	Object object.Object
	// Message is at most 1 KiB, without control characters.
	Message string
}

// Aggregate begins to collect. Close ends it.
func (s *Session) Aggregate(source string) *Aggregate {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aggregate++
	return &Aggregate{session: s, source: source, number: s.aggregate, whole: strings.Contains(source, "managedFields")}
}

// namesData finds the names of the fields of Secrets, and not metadata.
var namesData = regexp.MustCompile(`\b(data|stringData)\b`)

// LeaveOutData lets the script do without the data of Secrets, unless its text names them. It is called before the
// first Add. The bytes of what the script chooses lack them, too. When it looks at them in another way, that is an
// OutgrownError, and later aggregates have them.
func (a *Aggregate) LeaveOutData() {
	_, reads := a.session.pool.compiled.get(dataOf(a.source))
	a.withoutData = !reads && !namesData.MatchString(a.source)
}

// Given is an object as the script is given it.
func (a *Aggregate) Given(o object.Object) object.Object {
	if a.withoutData && o.IsSecret() {
		o.Raw = object.AppendWithoutData(nil, o.Raw)
	}
	return o
}

// dataOf is by what it is remembered that a script looks at the data of Secrets in a way that its text does not show.
func dataOf(source string) Script { return Script{Field: "data", Function: "data", Source: source} }

// Add adds an object. When another script ends the child, the objects are lost, which is an error. An error ends the
// aggregate.
func (a *Aggregate) Add(ctx context.Context, o object.Object) error {
	if a.closed {
		return ErrClosed
	}
	o = a.Given(o)
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
	a.sent = min(a.sent, n) // the child learns of it with the next objects, or at the end
}

// Finish lets the script choose, and closes the aggregate. The order is the script's.
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
		defer w.bury() // it has no use for the objects any more
		var err error
		selected, err = a.choose(ctx, w)
		return err
	})
	if err != nil {
		return nil, err
	}
	return selected, nil
}

// Choose lets an aggregated script choose among objects. Unchosen is as in Aggregate.
func (s *Session) Choose(
	ctx context.Context,
	source string,
	objects []object.Object,
	unchosen ...int,
) ([]Selected, error) {
	a := s.Aggregate(source)
	defer a.Close()
	a.Unchosen = unchosen
	for _, o := range objects {
		if err := a.Add(ctx, o); err != nil {
			return nil, err
		}
	}
	return a.Finish(ctx)
}

// Close ends the aggregate.
func (a *Aggregate) Close() { a.closed = true }

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
		f.err = a.session.use(
			ctx,
			func(ctx context.Context, w *worker) error { return a.deliver(ctx, w, f.batch, first, need, count) },
		)
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
