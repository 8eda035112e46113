// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

const (
	// outcomesPerPart is how many victims' outcomes are in one part, which is written anew each time: below 512 KiB, also
	// if nothing of them could be compressed.
	outcomesPerPart = 500
	// maxSavedReason bounds a reason and a message in a saved outcome, in bytes. The CleanerRun has the full text.
	maxSavedReason = 256
	// saveAfter is after how many outcomes, and saveEvery after how long, they are saved while a run goes on.
	saveAfter = 100
	saveEvery = time.Second
	// maxIntentBytes bounds what a run writes down before it touches anything, besides copies, compressed.
	maxIntentBytes = 64 << 20
	// conflictTries is how often a record is written that somebody else changes all the while.
	conflictTries = 5
)

// Ledger is what a run that touches objects keeps of them: its intent, the copies, and the outcomes as they come. It is
// safe for concurrent use.
type Ledger struct {
	journal *Journal
	run     *v1alpha1.CleanerRun
	// copies are nil for a run that was taken over: such a run makes no further copies.
	copies *copies
	// copying is held while copies are written.
	copying sync.Mutex

	// saving is held while outcomes are written. held is when it was last seen that the run is still this operator's.
	saving sync.Mutex
	held   time.Time
	// mu guards what follows it.
	mu      sync.Mutex
	parts   []outcomePart
	unsaved int
	saved   time.Time
	// waiting are victims to copy together when those in hand are copied. Nil when there are none.
	waiting *group
}

// keepWith keeps the first outcomes in the Secret with the intent, if there is one and there will be outcomes.
func (l *Ledger) keepWith(bundled *corev1.Secret) {
	if bundled != nil && len(l.parts) > 0 {
		l.parts[0].secret = bundled
	}
}

// Intend writes down, before anything is touched, what the run is going to touch, with copies of it, and then that it
// is executing. Without its success nothing may be touched; when it returns a ledger all the same, the intent may have
// been written, and the outcomes belong there. The outcomes given are what is known so far of all that matched. With
// ErrTaken, run is the record as the other operator wrote it.
func (j *Journal) Intend(ctx context.Context, cleaner *v1alpha1.Cleaner, run *v1alpha1.CleanerRun, considered int64,
	outcomes []stage.Outcome, victims []Victim,
) (*Ledger, error) {
	attempt := utilrand.String(5)
	l := &Ledger{journal: j, run: run, parts: newOutcomeParts(len(victims)), saved: j.clock.Now()}
	bundle := j.newBundle(run, attempt)
	intent := bundle.chain(streamIntent, &budget{left: maxIntentBytes})
	bundled, err := l.writeAll(ctx, cleaner, victims, bundle, intent)
	if err == nil {
		written := intent.written(j.namespace, attempt, bundled != nil)
		l.keepWith(bundled)
		err = j.beginActing(ctx, run, func() {
			describeActing(run, considered, outcomes)
			run.Status.Intent, run.Status.Copies = written, l.copies.kept()
		})
	}
	switch {
	case err == nil:
		if run.Status.Copies != nil {
			j.keepers.add(run)
		}
		return l, nil
	case errors.Is(err, errUnclear): // the record may name the parts: then it must say what became of the victims
		return l, wrap("writing down what the run intends", err)
	case errors.Is(err, errTooLarge):
		err = copiesFault(len(victims), j.maxCopyBytes(cleaner))
	}
	dropping, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTimeout)
	defer cancel()
	l.copies.drop(dropping)
	bundle.drop(dropping)
	if !errors.Is(err, ErrTaken) {
		run.Status.Intent, run.Status.Copies = nil, nil
	}
	return nil, wrap("writing down what the run intends", err)
}

// writeAll writes everything but the record: the copies, the intent, and the Report that shows them. It returns the
// Secret that has both, if one has.
func (l *Ledger) writeAll(
	ctx context.Context, cleaner *v1alpha1.Cleaner, victims []Victim, bundle *bundle, intent *chain,
) (bundled *corev1.Secret, err error) {
	j, run := l.journal, l.run
	if l.copies, err = j.openCopies(ctx, cleaner, run, bundle); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(victims, func(v Victim) bool { return l.copies.keeps(v.Object) }) {
		bundle.elsewhere = l.copies.storage == v1alpha1.StorageS3
		if err := j.makeRoom(ctx, run.Spec.CleanerUID); err != nil {
			return nil, err
		}
	}
	if err := l.write(ctx, victims, intent); err != nil {
		return nil, err
	}
	if bundled, err = bundle.seal(ctx); err != nil {
		return nil, l.copies.wayOut(err)
	}
	if cleaner.CopyStorage() == v1alpha1.StorageReport {
		err = j.showCopies(ctx, cleaner, run, victims)
	}
	return bundled, err
}

// written is what the record says of an intent that has been written.
func (c *chain) written(namespace, attempt string, bundled bool) *v1alpha1.RunIntent {
	return &v1alpha1.RunIntent{
		Namespace: namespace, Attempt: attempt, Objects: c.objects, Parts: c.parts, Bundled: bundled, Head: c.head,
	}
}

// copiesFault says what to do about copies that are too large.
func copiesFault(victims int, most int64) error {
	return fmt.Errorf("the copies of the %d objects take more than %d bytes, compressed: raise rollback.maxBytes (it cannot be more than the operator's --max-copies-bytes), let the Cleaner select fewer objects, or set rollback.storage to None if you do not need to restore them",
		victims, most)
}

// write writes the copies and then the intent.
func (l *Ledger) write(ctx context.Context, victims []Victim, intent *chain) error {
	for _, v := range victims {
		if err := l.copies.add(ctx, v); err != nil {
			return err
		}
		if err := intent.add(ctx, intentOf(v)); err != nil {
			return intentFault(err, len(victims))
		}
	}
	if err := l.copies.flush(ctx); err != nil {
		return err
	}
	return intentFault(intent.flush(ctx), len(victims))
}

// intentFault says what to do about an intent that is too large.
func intentFault(err error, victims int) error {
	if !errors.Is(err, errTooLarge) {
		return err
	}
	return fmt.Errorf("the list of what the run would do with the %d objects is larger than %d bytes, compressed: let the Cleaner select fewer objects, or change less of each object", victims, maxIntentBytes)
}

// errUnclear says that a write may have taken place although the API server did not say so.
var errUnclear = errors.New("it is not known whether the record was written")

// beginActing brings the record into the phase Executing, unless another operator has brought it further.
func (j *Journal) beginActing(ctx context.Context, run *v1alpha1.CleanerRun, describe func()) error {
	start := run.Status.StartTime
	begin := func() error {
		describe()
		run.Status.Phase, run.Status.StartTime, run.Status.Attempts = v1alpha1.RunExecuting, start, 0
		run.Status.JudgedTime = &metav1.Time{Time: j.clock.Now()}
		return j.changeStatus(ctx, run)
	}
	err := begin()
	for tries := 1; err != nil; tries++ {
		live, readErr := j.readBegun(ctx, run)
		if readErr != nil {
			if apierrors.IsConflict(err) {
				return errors.Join(err, readErr)
			}
			return errors.Join(errUnclear, err, readErr)
		}
		switch {
		case live.UID != run.UID:
			return ErrGone
		case isActing(live, run): // it was written, and the answer lost
			run.ResourceVersion = live.ResourceVersion
			return nil
		case live.Status.Phase != "":
			live.DeepCopyInto(run)
			return ErrTaken
		case !apierrors.IsConflict(err) && tries == 1:
			if live.ResourceVersion != run.ResourceVersion { // then the write cannot take place any more
				run.ObjectMeta, run.Status.Phase, run.Status.Attempts = live.ObjectMeta, live.Status.Phase, live.Status.Attempts
			}
			return err
		case !apierrors.IsConflict(err), tries == conflictTries:
			return errors.Join(errUnclear, err)
		}
		run.ObjectMeta = live.ObjectMeta // something else changed in the record, such as a label or the progress
		err = begin()
	}
	return nil
}

// isActing reports whether the record says that the run is executing by the intent of this attempt.
func isActing(live, run *v1alpha1.CleanerRun) bool {
	return live.Status.Phase == v1alpha1.RunExecuting && live.Status.Intent != nil &&
		live.Status.Intent.Attempt == run.Status.Intent.Attempt
}

// readBegun reads the record after a write whose success is in doubt, also when the run was stopped.
func (j *Journal) readBegun(ctx context.Context, run *v1alpha1.CleanerRun) (*v1alpha1.CleanerRun, error) {
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
	defer cancel()
	return j.read(reading, run.Name)
}
