// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"

	"k8s.io/client-go/util/workqueue"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// confirming is how many objects are asked for at once.
const confirming = 8

// confirm asks for each object that is going to be called absent by its name. What may be there is not absent.
func (r *reading) confirm(ctx context.Context) error {
	absent := r.finder.Absent()
	proved := make([]bool, len(absent))
	workqueue.ParallelizeUntil(ctx, confirming, len(absent), func(i int) {
		proved[i] = r.isAbsent(ctx, absent[i])
	})
	for i, o := range absent {
		if !proved[i] {
			r.finder.Present(o)
		}
	}
	return context.Cause(ctx)
}

// isAbsent reports whether it is proved that there is no such object. It asks by a list, because whoever may list the
// kind may not always get an object.
func (r *reading) isAbsent(ctx context.Context, wanted object.Object) bool {
	ask := selector.Ask{
		Kind: wanted.Kind, Namespace: wanted.Namespace, Fields: "metadata.name=" + wanted.Name, MetadataOnly: true,
	}
	there := false
	err := r.reader.Each(ctx, ask, func(o object.Object) error {
		there = there || o.Name == wanted.Name
		return nil
	})
	return err == nil && !there
}
