// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Preview is what a run would do now. It is not saved, and touches nothing.
type Preview struct {
	Action     v1alpha1.Action
	Considered int64
	// Items are the objects that match, in the order in which they were found, and then those that could not be judged.
	Items []PreviewItem
	// Incomplete says why the view was not complete, and Limit which limit is exceeded. With either, a run would touch
	// nothing.
	Incomplete, Limit error
	// EmptyScopes are sentences about the selectors that look in no namespace.
	EmptyScopes string
	// Threshold is the occurrenceThreshold, which a preview does not apply.
	Threshold int32
	// ForSeconds is the longest finding.forSeconds, which a preview does not apply either.
	ForSeconds int64
}

// PreviewItem is one object and what would become of it: OutcomePlanned if it would be deleted or changed,
// OutcomeMatched if it would be reported, else why it would be left alone.
type PreviewItem struct {
	stage.Outcome
	// Patch is what a Transform would send.
	Patch map[string]any
	// After is the object as the API server said that it would be after the patch. Nil where it was not asked.
	After *object.Object
}

// Preview reads and judges as a run does, and needs of the Runner what that needs: Check, Read and Judge. It reads with
// the rights of the operator's identity, whatever account the Cleaner names. The observer gets the candidates of the
// selectors, before aggregatedSelection, protection and limits. The error means that the Cleaner is not valid.
func (r *Runner) Preview(ctx context.Context, cleaner *v1alpha1.Cleaner, observer selector.Observer) (*Preview, error) {
	t := &task{cleaner: cleaner, action: cleaner.EffectiveAction(), now: r.Check.Clock.Now(), preview: true}
	var err error
	if t.engine, err = r.Check.open(ctx, cleaner, sandbox.Options{}); err != nil {
		return nil, err
	}
	defer t.engine.Close()
	if t.who, err = r.Check.Identities.Of(nil); err != nil {
		return nil, err
	}
	unchecked := r.Check.checkConditions(ctx, t)
	if unchecked != nil && !expr.IsUnread(unchecked) {
		return nil, unchecked
	}
	t.observer = observer
	d := r.decide(ctx, t)
	preview := &Preview{
		Action: t.action, Considered: d.view.considered, Incomplete: errors.Join(unchecked, d.incomplete), Limit: d.limit,
		EmptyScopes: strings.TrimSpace(emptyScopeWords(d.view)),
		Threshold:   ptr.Deref(cleaner.Spec.OccurrenceThreshold, 1), ForSeconds: cleaner.LongestFinding(),
	}
	planned := v1alpha1.OutcomePlanned
	if !t.acts() {
		planned = v1alpha1.OutcomeMatched
	}
	for i, outcome := range d.outcomes(planned) {
		item := PreviewItem{Outcome: outcome}
		if outcome.Result == planned && d.changes[i].patch != nil {
			item.Patch, _ = object.DecodePatch(d.changes[i].patch) // it was encoded just now
		}
		preview.Items = append(preview.Items, item)
	}
	for _, outcome := range d.view.notEvaluated {
		preview.Items = append(preview.Items, PreviewItem{Outcome: outcome})
	}
	return preview, context.Cause(ctx)
}
