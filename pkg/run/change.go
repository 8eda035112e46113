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
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// change asks a Transform what to send. What it would leave as it is, or cannot change, is not acted on.
func (d *decision) change(ctx context.Context, t *task) {
	if t.action != v1alpha1.ActionTransform {
		return
	}
	d.changes = map[int]change{}
	d.rule(func(i int, verdict stage.Verdict) *ruling {
		if context.Cause(ctx) != nil || d.incomplete != nil && !t.preview {
			return nil
		}
		patch, message, err := t.engine.Change(ctx, verdict.Object)
		r, fault := unfit(verdict, err)
		if fault == nil {
			fault = t.engine.Memory.Patch(len(d.changes)+1, len(patch))
		}
		if fault != nil {
			d.incomplete = cmp.Or(d.incomplete, fault)
			return r
		}
		d.changes[i] = change{patch, message}
		return t.ruleChange(ctx, verdict, patch, err)
	})
}

// unfit says why nothing is changed at all: the scripts need more memory, or a patch is larger than the API server
// takes. The ruling is on the object of that patch.
func unfit(verdict stage.Verdict, err error) (*ruling, error) {
	if isOutgrown(err) {
		return nil, err
	}
	var tooLarge *object.PatchSizeError
	if !errors.As(err, &tooLarge) {
		return nil, nil
	}
	r := &ruling{result: v1alpha1.OutcomeNotEvaluated, detail: err.Error(), err: err}
	return r, fmt.Errorf("%s: %w", verdict.Object, err)
}

// ruleChange says why an object is not changed.
func (t *task) ruleChange(ctx context.Context, verdict stage.Verdict, patch object.JSON, err error) *ruling {
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
}

// rehearse asks the API server, as a dry run, whether it would take the patches of many objects, before anything is
// written down. When it refuses the first, the last and one between, because what they would make is not valid, one
// failure says so instead of thousands.
func (t *task) rehearse(ctx context.Context, victims []journal.Victim) error {
	n := len(victims)
	if t.action != v1alpha1.ActionTransform || n <= parallel {
		return nil
	}
	var first stage.Outcome
	for i, at := range []int{0, n / 2, n - 1} {
		victim := &victims[at]
		if !action.MayRehearse(victim.Kind) || len(victim.Patch) == 0 {
			return nil
		}
		outcome, _ := t.who.Actor.Rehearse(ctx, stage.Verdict{Candidate: victim.Candidate, Act: true}, victim.Patch, nil)
		if !action.IsRefused(outcome) {
			return nil
		}
		if i == 0 {
			first = outcome
		}
	}
	return fmt.Errorf("the API server refused the change of 3 of the %d objects in a dry run, so none is changed. Correct transform or mergePatch. About %s it says: %s",
		n, first.Object, first.Detail)
}
