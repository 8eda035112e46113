// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// seenWhole makes sure that nothing is left out of the objects that are to be touched. It asks with the operator's own rights.
func (r *Runner) seenWhole(ctx context.Context, plan *plan) error {
	asked := map[schema.GroupVersionKind]bool{}
	var errs []error
	for i := range plan.verdicts {
		verdict := &plan.verdicts[i]
		if gvk := verdict.Kind.GroupVersionKind; verdict.Act && !asked[gvk] {
			asked[gvk] = true
			errs = append(errs, r.Reader.Whole(ctx, verdict.Kind))
		}
	}
	return errors.Join(errs...)
}
