// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TakeOver makes this operator the one that carries an executing run out: the one that did before cannot write to the record, nor
// outcomes, any more. With ErrTaken somebody else was faster.
func (j *Journal) TakeOver(ctx context.Context, run *v1alpha1.CleanerRun) error {
	before := run.Status.Recoveries
	for range conflictTries {
		run.Status.Recoveries, run.Status.Progress = before+1, nil
		if err := j.changeStatus(ctx, run); !apierrors.IsConflict(err) {
			return wrap("taking over CleanerRun "+run.Name, err)
		}
		// It may be but the progress that the one before wrote last.
		live, err := j.read(ctx, run.Name)
		if err != nil {
			return wrap("taking over CleanerRun "+run.Name, err)
		}
		if live.UID != run.UID || live.Status.Recoveries != before || live.Status.Phase != v1alpha1.RunExecuting {
			break
		}
		live.DeepCopyInto(run)
	}
	return ErrTaken
}

// Resume opens the ledger of a run that was taken over: what the run was going to touch, and what is known to have become of it,
// by place in the intent.
func (j *Journal) Resume(ctx context.Context, run *v1alpha1.CleanerRun) (*Ledger, []Intent, map[int]SavedOutcome, error) {
	parts := &Parts{client: j.client}
	intents, err := ReadIntent(ctx, parts, run)
	if err != nil {
		return nil, nil, nil, err
	}
	l := &Ledger{journal: j, run: run, parts: newOutcomeParts(len(intents)), saved: j.clock.Now()}
	known := map[int]SavedOutcome{}
	for n := range l.parts {
		secret, err := parts.secret(ctx, run, streamOutcomes, int32(n)) //nolint:gosec // far fewer parts
		if errors.Is(err, ErrNoPart) {
			continue // none was saved yet
		}
		if err != nil {
			return nil, nil, nil, err
		}
		part := &l.parts[n]
		part.resourceVersion = secret.ResourceVersion
		err = decodeOutcomes(secret.Data[partKey], func(outcome SavedOutcome) {
			part.outcomes[outcome.Index] = outcome
			known[outcome.Index] = outcome
		})
		if err != nil {
			return nil, nil, nil, wrap("reading Secret "+secret.Name, err)
		}
	}
	return l, intents, known, nil
}

// ReadOutcomes reads what became of the victims of a run, by place in the intent.
func ReadOutcomes(ctx context.Context, parts *Parts, run *v1alpha1.CleanerRun) (map[int]SavedOutcome, error) {
	known := map[int]SavedOutcome{}
	if run.Status.Intent == nil {
		return known, nil
	}
	for n := range newOutcomeParts(int(run.Status.Intent.Objects)) {
		secret, err := parts.secret(ctx, run, streamOutcomes, int32(n)) //nolint:gosec // far fewer parts
		if errors.Is(err, ErrNoPart) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := decodeOutcomes(secret.Data[partKey], func(outcome SavedOutcome) { known[outcome.Index] = outcome }); err != nil {
			return nil, wrap("reading Secret "+secret.Name, err)
		}
	}
	return known, nil
}
