// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TakeOver makes this operator the one that carries an executing run out: the one that did before cannot write to the
// record, nor outcomes, any more. One more attempt is counted: see HasFailedTooOften. With ErrTaken somebody else was
// faster.
func (j *Journal) TakeOver(ctx context.Context, run *v1alpha1.CleanerRun) error {
	attempts, settled := nextAttempt(run), run.Status.Settled
	if attempts > MaxAttempts {
		known, err := ReadOutcomes(ctx, &Parts{client: j.client}, run)
		if err != nil {
			return wrap("taking over CleanerRun "+run.Name, err)
		}
		if n := int64(len(known)); n > settled {
			attempts, settled = 1, n
		}
	}
	before := run.Status.Recoveries
	return wrap("taking over CleanerRun "+run.Name, j.changeIfSame(ctx, run, func(status *v1alpha1.CleanerRunStatus) {
		status.Recoveries, status.Progress = before+1, nil
		status.Attempts, status.Settled = attempts, settled
	}))
}

// NotTried takes back the attempt that TakeOver counted: the operator stops, or the run needs more memory, which says
// nothing of the run. An API server that fails counts, because it may be what this run wrote that it can never read.
func (j *Journal) NotTried(ctx context.Context, run *v1alpha1.CleanerRun) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTimeout)
	defer cancel()
	attempts := max(1, run.Status.Attempts-1)
	return wrap("taking back an attempt of CleanerRun "+run.Name, j.changeIfSame(ctx, run,
		func(status *v1alpha1.CleanerRunStatus) { status.Attempts = attempts }))
}

// Resume opens the ledger of a run that was taken over: what the run was going to touch, and what is known to have
// become of it, by place in the intent. keep is asked for the bytes of the number-th victim.
func (j *Journal) Resume(
	ctx context.Context,
	run *v1alpha1.CleanerRun,
	keep func(number, bytes int) error,
) (*Ledger, []Intent, map[int]SavedOutcome, error) {
	parts := &Parts{client: j.client}
	intents, err := readIntent(ctx, parts, run, keep)
	if err != nil {
		return nil, nil, nil, err
	}
	l := &Ledger{journal: j, run: run, parts: newOutcomeParts(len(intents)), saved: j.clock.Now()}
	known := map[int]SavedOutcome{}
	for n := range l.parts {
		secret, data, err := parts.outcomes(ctx, run, int32(n))
		if err != nil {
			return nil, nil, nil, err
		}
		part := &l.parts[n]
		part.secret = withoutOutcomes(secret)
		err = decodeOutcomes(data, func(outcome SavedOutcome) {
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
		secret, data, err := parts.outcomes(ctx, run, int32(n))
		if err != nil {
			return nil, err
		}
		if err := decodeOutcomes(data, func(outcome SavedOutcome) { known[outcome.Index] = outcome }); err != nil {
			return nil, wrap("reading Secret "+secret.Name, err)
		}
	}
	return known, nil
}
