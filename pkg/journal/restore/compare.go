// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Compare returns the last copy of the wanted object that a run made, and the object of that name as it is now. Each is
// nil when there is none.
func (r *Restorer) Compare(ctx context.Context, run *v1alpha1.CleanerRun, wanted func(object.Object) bool) (copied,
	live *object.Object, err error,
) {
	err = r.copies(ctx, run, func(c journal.Copy) error {
		kind, err := kindOf(&c)
		if err != nil || !wanted(object.Object{Kind: kind, Namespace: c.Namespace, Name: c.Name}) {
			return err
		}
		if c.Problem != nil {
			return c.Problem
		}
		o, err := objectOf(&c)
		copied = &o
		return err
	})
	if err != nil || copied == nil {
		return nil, nil, err
	}
	live, err = r.live(ctx, copied.Kind, copied.Namespace, copied.Name)
	return copied, live, err
}
