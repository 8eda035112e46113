// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// seenWhole makes sure that nothing is left out of the objects that are to be copied, or changed. It asks with the operator's own rights.
func (r *Runner) seenWhole(ctx context.Context, cleaner *v1alpha1.Cleaner, action v1alpha1.Action, plan *plan) error {
	deletes := action == v1alpha1.ActionDelete
	if deletes && cleaner.CopyStorage() == v1alpha1.StorageNone {
		return nil
	}
	asked := map[schema.GroupVersionKind]bool{}
	var errs []error
	for i := range plan.verdicts {
		verdict := &plan.verdicts[i]
		if gvk := verdict.Kind.GroupVersionKind; verdict.Act && !asked[gvk] {
			asked[gvk] = true
			errs = append(errs, r.Reader.Whole(ctx, verdict.Kind, !deletes))
		}
	}
	return errors.Join(errs...)
}
