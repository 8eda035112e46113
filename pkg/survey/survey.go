// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package survey reads what findings need: each kind once, as a stream, whatever is looked for. What may not be read makes unknown what it could have
// named; any other failure ends the survey.
package survey

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Observer is told how a survey goes. Nil functions are not called.
type Observer struct {
	// List is told which list begins: the number-th of all.
	List func(kind object.Kind, number, all int)
	// Object is told of each object that was read. After a list had to begin anew, it is told of its objects again.
	Object func()
}

// Read reads all that the finder needs, of one namespace or, with an empty one, of the whole cluster. The memory may be nil.
func Read(ctx context.Context, reader *selector.Reader, finder *finding.Finder, namespace string, memory *selector.Share, observer Observer) error {
	lists, taken := finder.Lists(), int64(0)
	for i, list := range lists {
		if observer.List != nil {
			observer.List(list.Kind, i+1, len(lists))
		}
		in := namespace
		if list.Everywhere || !list.Kind.Namespaced {
			in = ""
		}
		ask := selector.Ask{Kind: list.Kind, Namespace: in, Fields: list.Fields, MetadataOnly: list.MetadataOnly}
		err := reader.Each(ctx, ask, func(o object.Object) error {
			finder.Look(list, o)
			selector.Tell(observer.Object)
			more := finder.Bytes() - taken
			if memory == nil || more < 1<<16 {
				return nil
			}
			taken += more
			return memory.Take(int(more))
		})
		switch {
		case apierrors.IsForbidden(err):
			finder.Unread(list, err)
		case object.IsKindAbsent(err): // it went away meanwhile, and all its objects with it
		case err != nil:
			return fmt.Errorf("looking for findings: %w", err)
		}
	}
	return nil
}
