// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Preview is what a run would do now. It is not saved, and touches nothing.
type Preview struct {
	Action     v1alpha1.Action
	Considered int64
	// Items are the objects that match, in the order in which they were found, and then those that could not be judged.
	Items []PreviewItem
	// Incomplete says why the view was not complete, and Limit which limit is exceeded. With either, a run would touch nothing.
	Incomplete, Limit error
	// Threshold is the occurrenceThreshold, which a preview does not apply.
	Threshold int32
}

// PreviewItem is one object and what would become of it: OutcomePlanned if it would be deleted or changed, OutcomeMatched if it
// would be reported, else why it would be left alone.
type PreviewItem struct {
	object.Outcome
	// Patch is what a Transform would send.
	Patch map[string]any
}

// Preview does what a run does before it touches anything, and needs of the Runner what that needs: Reader, Protection, Scripts
// and Clock. It reads with the Runner's own rights, whatever account the Cleaner names. The observer is told the candidates of the selectors, before aggregatedSelection, protection and limits. The error means that the Cleaner is not valid.
func (r *Runner) Preview(ctx context.Context, cleaner *v1alpha1.Cleaner, observer selector.Observer) (*Preview, error) {
	expressions, err := r.prepare(ctx, cleaner, sandbox.Options{})
	if err != nil {
		return nil, err
	}
	defer expressions.close()
	action := cleaner.EffectiveAction()
	unchecked := r.checkConditions(ctx, cleaner, r.Reader, action)
	if unchecked != nil && !isUnread(unchecked) {
		return nil, unchecked
	}
	plan := r.read(ctx, reading{
		cleaner: cleaner, who: identity{reader: r.Reader}, expressions: expressions, observer: observer,
		acts: action != v1alpha1.ActionScan, preview: true,
	})
	r.aggregate(ctx, plan)
	plan.incomplete = errors.Join(unchecked, plan.incomplete, r.protect(ctx, plan))
	if action != v1alpha1.ActionScan && plan.incomplete == nil {
		if err := r.seenWhole(ctx, cleaner, action, plan); !forbidden(err) {
			plan.incomplete = err
		}
	}
	if action != v1alpha1.ActionScan && plan.incomplete == nil {
		plan.limit, plan.incomplete = r.blastRadius(ctx, cleaner, plan)
	}
	preview := &Preview{
		Action: action, Considered: plan.considered, Incomplete: plan.incomplete, Limit: plan.limit,
		Threshold: ptr.Deref(cleaner.Spec.OccurrenceThreshold, 1),
	}
	for _, outcome := range planned(plan) {
		preview.Items = append(preview.Items, previewItem(ctx, action, expressions, outcome))
	}
	for _, outcome := range plan.notEvaluated {
		preview.Items = append(preview.Items, PreviewItem{Outcome: outcome})
	}
	return preview, context.Cause(ctx)
}

func previewItem(ctx context.Context, action v1alpha1.Action, expressions *expressions, outcome object.Outcome) PreviewItem {
	item := PreviewItem{Outcome: outcome}
	switch {
	case outcome.Result != v1alpha1.OutcomePlanned:
	case action == v1alpha1.ActionScan:
		item.Result = v1alpha1.OutcomeMatched
	case action == v1alpha1.ActionTransform:
		patch, err := expressions.change(ctx, outcome.Object)
		if message := expressions.messageOf(outcome.Object); message != "" {
			item.Message = message
		}
		switch {
		case err != nil:
			item.Result, item.Err, item.Detail = v1alpha1.OutcomeFailed, err, fmt.Sprintf("it could not be changed: %v", err)
		case patch == nil:
			item.Result, item.Detail = v1alpha1.OutcomeUnchanged, "there is nothing to change"
		default:
			if reason := guard.Consent(outcome.Kind, patch, expressions.cleaner.Spec.TransformOptions); reason != "" {
				item.Result, item.Detail, patch = v1alpha1.OutcomeProtected, reason, nil
			}
		}
		item.Patch = patch
	}
	return item
}
