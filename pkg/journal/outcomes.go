// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// outcomePart is a part of the outcomes, as it was written last.
type outcomePart struct {
	outcomes map[int]SavedOutcome
	dirty    bool
	// secret is where it is, as it was written last. Nil when there is none yet.
	secret *corev1.Secret
}

func newOutcomeParts(victims int) []outcomePart {
	parts := make([]outcomePart, (victims+outcomesPerPart-1)/outcomesPerPart)
	for i := range parts {
		parts[i].outcomes = map[int]SavedOutcome{}
	}
	return parts
}

// Record takes what became of the i-th victim, and saves what it took from time to time. The error says that another
// operator has taken the run over: then nothing more may be touched. That outcomes could not be saved is no error: they
// are saved later, and if this operator goes away before, the next one looks at the objects themselves.
func (l *Ledger) Record(ctx context.Context, i int, outcome stage.Outcome) error {
	saved := SavedOutcome{
		Index:   i,
		Outcome: outcome.Result,
		Reason: v1alpha1.Truncate(
			outcome.Detail,
			maxSavedReason,
		),
		Message: v1alpha1.Truncate(outcome.Message, maxSavedReason),
	}
	now := l.journal.clock.Now()
	l.mu.Lock()
	part := &l.parts[i/outcomesPerPart]
	if part.outcomes[i] != saved {
		part.outcomes[i], part.dirty = saved, true
		l.unsaved++
	}
	due := l.unsaved >= saveAfter || now.Sub(l.saved) >= saveEvery
	l.mu.Unlock()
	if !due || !l.saving.TryLock() {
		return nil
	}
	defer l.saving.Unlock()
	if err := l.save(ctx); errors.Is(err, ErrTaken) || errors.Is(err, ErrGone) {
		return err
	}
	return nil
}

// Flush saves the outcomes that are not saved yet. Nil has none.
func (l *Ledger) Flush(ctx context.Context) error {
	if l == nil {
		return nil
	}
	l.saving.Lock()
	defer l.saving.Unlock()
	return l.save(ctx)
}

func (l *Ledger) save(ctx context.Context) error {
	now := l.journal.clock.Now()
	// A record can be large, and reading it costs the API server more than the write. Between two looks, a part that
	// another operator has written is not overwritten: its resourceVersion is not ours. One that it has only read is, and
	// it writes that again.
	if now.Sub(l.held) >= saveEvery {
		if err := l.journal.holds(ctx, l.run); err != nil {
			return wrap("saving outcomes", err)
		}
		l.held = now
	}
	l.mu.Lock()
	l.unsaved, l.saved = 0, now
	type dirty struct {
		n      int
		data   []byte
		secret *corev1.Secret
	}
	var parts []dirty
	var errs []error
	for n := range l.parts {
		if part := &l.parts[n]; part.dirty {
			data, err := encodeOutcomes(part.outcomes)
			errs = append(errs, err)
			parts = append(parts, dirty{n, data, part.secret})
			part.dirty = false
		}
	}
	l.mu.Unlock()
	for _, part := range parts {
		secret, err := l.journal.putOutcomes(
			ctx,
			l.run,
			int32(part.n),
			part.data,
			part.secret,
		)
		l.mu.Lock()
		if err != nil {
			l.parts[part.n].dirty = true
		} else {
			l.parts[part.n].secret = secret
		}
		l.mu.Unlock()
		errs = append(errs, err)
	}
	return wrap("saving outcomes", errors.Join(errs...))
}

// putOutcomes creates or replaces a part of the outcomes. A part that is not as this operator left it means that
// another one has the run.
func (j *Journal) putOutcomes(
	ctx context.Context,
	run *v1alpha1.CleanerRun,
	n int32,
	data []byte,
	before *corev1.Secret,
) (*corev1.Secret, error) {
	part := newPart(run, j.namespace, run.Status.Intent.Attempt, streamOutcomes, n, data)
	var err error
	if before == nil {
		err = j.create(ctx, part)
	} else {
		part = withOutcomes(before, data)
		err = j.update(ctx, part)
	}
	if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
		return withoutOutcomes(part), err
	}
	// An answer may have been lost: what stands there may be what was written here.
	stored, _, readErr := (&Parts{client: j.client}).outcomes(ctx, run, n)
	if readErr != nil {
		return nil, errors.Join(err, readErr)
	}
	if holdErr := j.holds(ctx, run); holdErr != nil {
		return nil, errors.Join(err, holdErr)
	}
	if stored == nil {
		return nil, errors.Join(err, ErrNoPart)
	}
	if part.ResourceVersion = stored.ResourceVersion; maps.EqualFunc(stored.Data, part.Data, bytes.Equal) {
		return withoutOutcomes(part), nil
	}
	err = j.update(ctx, part)
	return withoutOutcomes(part), err
}

// withoutOutcomes is a Secret as it is kept until it is written again: what else is in it is written with it.
func withoutOutcomes(secret *corev1.Secret) *corev1.Secret {
	if secret == nil {
		return nil
	}
	for _, key := range []string{partKey, bundleKey(streamOutcomes)} {
		delete(secret.Data, key)
	}
	return secret
}

// withOutcomes is a Secret with other outcomes.
func withOutcomes(before *corev1.Secret, data []byte) *corev1.Secret {
	part, key := before.DeepCopy(), partKey
	if part.Labels[v1alpha1.PartLabel] == streamBundle {
		key = bundleKey(streamOutcomes)
	}
	if part.Data == nil {
		part.Data = map[string][]byte{}
	}
	part.Data[key] = data
	return part
}

// holds finds out whether the run is still this operator's to carry out.
func (j *Journal) holds(ctx context.Context, run *v1alpha1.CleanerRun) error {
	live, err := j.read(ctx, run.Name)
	switch {
	case apiserver.IsAbsent(err, run.Name), err == nil && live.UID != run.UID:
		return ErrGone
	case err != nil:
		return wrap("reading CleanerRun "+run.Name, err)
	case live.Status.Recoveries != run.Status.Recoveries || live.Status.Phase.Final():
		return ErrTaken
	}
	return nil
}

func encodeOutcomes(outcomes map[int]SavedOutcome) ([]byte, error) {
	var buffer bytes.Buffer
	zip := gzip.NewWriter(&buffer)
	lines := json.NewEncoder(zip)
	var errs []error
	for _, i := range slices.Sorted(maps.Keys(outcomes)) {
		errs = append(errs, lines.Encode(outcomes[i]))
	}
	errs = append(errs, zip.Close())
	return buffer.Bytes(), errors.Join(errs...)
}

func decodeOutcomes(data []byte, each func(SavedOutcome)) error {
	if len(data) == 0 {
		return nil
	}
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(zip)
	for {
		var outcome SavedOutcome
		if err := decoder.Decode(&outcome); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		each(outcome)
	}
}
