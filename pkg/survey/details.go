// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// details reads what only adds to the reasons of what was found. Whatever cannot be read of that, the reasons say so,
// and nothing else changes.
func (r *reading) details(ctx context.Context) error {
	before, lists := len(r.finder.Lists()), r.finder.Details()
	for i, list := range lists {
		if r.observer.List != nil {
			r.observer.List(list.Kind, before+i+1, before+len(lists))
		}
		err := r.reader.Each(ctx, askFor(list), func(o object.Object) error {
			r.finder.Look(list, o)
			selector.Call(r.observer.Object)
			return nil
		})
		if ctx.Err() != nil {
			for _, rest := range lists[i:] {
				r.finder.Unread(rest, errNotReached)
			}
			return context.Cause(ctx)
		}
		if err != nil {
			r.finder.Unread(list, err)
		}
	}
	if more := r.finder.Bytes() - r.taken; r.memory != nil && more > 0 {
		return r.memory.Take(int(more))
	}
	return nil
}
