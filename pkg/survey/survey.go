// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package survey reads what findings need: each kind once, as a stream, whatever is looked for. What may not be read
// makes unknown what it could have named; any other failure ends the survey, unless its caller can do with less. It
// also reads what a delete would take along.
package survey

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Observer follows a survey. Nil functions are not called.
type Observer struct {
	// List is called when a list begins: the number-th of all.
	List func(kind object.Kind, number, all int)
	// Object is called for each object that was read. After a list had to begin anew, it is called for its objects again.
	Object func()
	// Unread is called for a list that could not be read to its end. When it returns nil, the survey goes on, and what the
	// list could have named is unknown. Without it, a missing right is the only failure with which it does. elsewhere is
	// true when its objects of the namespace could be.
	Unread func(list finding.List, err error, elsewhere bool) error
}

// errNotReached is why lists were not read after the survey was stopped.
var errNotReached = errors.New("it was not read: the search was stopped before its end")

// ErrOnlyOf is why nothing is known of other namespaces, where there are objects of one only.
var ErrOnlyOf = errors.New("there are objects of one namespace only, and what others hold is not known")

// Read reads all that the finder needs, of one namespace or, with an empty one, of the whole cluster. The memory is nil
// where nobody counts it: then several lists are asked for at a time. When it is stopped by its context, the finder
// knows which lists were not read: what it finds then is right, but not all.
func Read(
	ctx context.Context,
	reader *selector.Reader,
	finder *finding.Finder,
	namespace string,
	memory *selector.Share,
	observer Observer,
) error {
	r := &reading{reader: reader, finder: finder, namespace: namespace, memory: memory, observer: observer}
	lists := finder.Lists()
	for i, p := range r.inOrder(ctx, lists) {
		if observer.List != nil {
			observer.List(p.list.Kind, i+1, len(lists))
		}
		err := r.list(ctx, p)
		if ctx.Err() != nil {
			for _, rest := range lists[i:] {
				finder.Unread(rest, errNotReached)
			}
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("looking for findings: %w", err)
		}
	}
	return r.details(ctx)
}

// reading is one call of Read.
type reading struct {
	reader    *selector.Reader
	finder    *finding.Finder
	namespace string
	memory    *selector.Share
	observer  Observer
	// taken is how much memory the finder is known to take.
	taken int64
}

// list reads one list. Where that of the whole cluster may not be read, that of the namespace alone still shows what is
// used there.
func (r *reading) list(ctx context.Context, p *pending) error {
	list := p.list
	elsewhere, err := p.read()
	switch {
	case err == nil || apiserver.IsKindAbsent(err) && isGone(ctx, r.reader, list.Kind.GroupKind()):
		return nil
	case r.observer.Unread != nil:
		if failed := r.observer.Unread(list, err, elsewhere); failed != nil {
			return failed
		}
	case !apierrors.IsForbidden(err):
		return err
	}
	if elsewhere {
		r.finder.UnreadElsewhere(list, err)
	} else {
		r.finder.Unread(list, err)
	}
	return nil
}

// readAllowed reads a list. Where that of the whole cluster may not be read, it reads that of the namespace: elsewhere
// is true when err is of the other namespaces alone.
func (r *reading) readAllowed(ctx context.Context, p *pending) (elsewhere bool, err error) {
	list, in := p.list, namespaceOf(p.list, r.namespace)
	err = r.read(ctx, p, in)
	if err == nil && in == "" && list.Kind.Namespaced && r.finder.OnlyOf != "" {
		return true, ErrOnlyOf
	}
	if !apierrors.IsForbidden(err) || in == r.namespace || !list.Kind.Namespaced {
		return false, err
	}
	switch own := r.read(ctx, p, r.namespace); {
	case own == nil:
		return true, err
	case !apierrors.IsForbidden(own):
		return false, own
	}
	return false, err
}

// namespaceOf is the namespace that a list is of when objects are looked for in one. Empty for the whole cluster.
func namespaceOf(list finding.List, namespace string) string {
	if list.Everywhere || !list.Kind.Namespaced {
		return ""
	}
	return namespace
}

// isGone reports whether a kind went away since it was said to be served, and all its objects with it. That its list is
// not found does not say so: only its version may be gone, or who answers for it may not be who serves it.
func isGone(ctx context.Context, reader *selector.Reader, kind schema.GroupKind) bool {
	now, err := reader.Catalog(ctx)
	if err != nil || now.Unserved[kind.Group] != nil {
		return false
	}
	return !slices.ContainsFunc(now.Kinds, func(k object.Kind) bool { return k.GroupKind() == kind })
}

// askFor asks for the objects of a list.
func askFor(list finding.List) selector.Ask {
	return selector.Ask{Kind: list.Kind, Fields: list.Fields, MetadataOnly: list.MetadataOnly, Brief: true}
}

// read reads a list in one namespace, or, with an empty one, in all.
func (r *reading) read(ctx context.Context, p *pending, namespace string) error {
	ask := askFor(p.list)
	ask.Namespace = namespace
	return r.reader.Each(ctx, ask, func(o object.Object) error {
		if err := p.holdUntilTurn(ctx); err != nil {
			return err
		}
		r.finder.Look(p.list, o)
		if !p.list.Again {
			selector.Call(r.observer.Object)
		}
		more := r.finder.Bytes() - r.taken
		if r.memory == nil || more < 1<<16 {
			return nil
		}
		r.taken += more
		return r.memory.Take(int(more))
	})
}
