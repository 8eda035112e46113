// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// change asks a Transform what to send. What it would leave as it is, or cannot change, is not acted on.
func (d *decision) change(ctx context.Context, t *task) {
	if t.action != v1alpha1.ActionTransform {
		return
	}
	d.changes = map[int]change{}
	d.rule(func(i int, verdict object.Verdict) *ruling {
		if context.Cause(ctx) != nil {
			return nil
		}
		if d.incomplete != nil && !t.preview {
			return nil
		}
		patch, message, err := t.expressions.change(ctx, verdict.Object)
		if isOutgrown(err) {
			d.incomplete = cmp.Or(d.incomplete, err)
			return nil
		}
		var tooLarge *object.PatchSizeError
		if errors.As(err, &tooLarge) {
			d.incomplete = cmp.Or(d.incomplete, fmt.Errorf("%s: %w", verdict.Object, err))
			return &ruling{result: v1alpha1.OutcomeNotEvaluated, detail: err.Error(), err: err}
		}
		if fault := t.expressions.memory.Patch(len(d.changes)+1, len(patch)); fault != nil {
			d.incomplete = cmp.Or(d.incomplete, fault)
			return nil
		}
		d.changes[i] = change{patch, message}
		switch stopped := context.Cause(ctx); {
		case err != nil && stopped != nil && errors.Is(err, stopped):
			return nil
		case err != nil:
			failed := action.Failed(verdict, err)
			return &ruling{result: failed.Result, detail: failed.Detail, err: err}
		case len(patch) == 0:
			return &ruling{result: v1alpha1.OutcomeUnchanged, detail: "there is nothing to change"}
		}
		if reason := guard.Consent(verdict.Kind, patch, t.cleaner.Spec.TransformOptions); reason != "" {
			return &ruling{result: v1alpha1.OutcomeProtected, detail: reason}
		}
		return nil
	})
}
