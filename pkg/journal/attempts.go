// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// MaxAttempts is how often a run is begun or taken over without getting on. It may be the run itself that ends the
// operator each time.
const MaxAttempts = 3

// HasFailedTooOften reports whether a run must not be attempted once more. Each attempt is counted before it does
// anything.
func HasFailedTooOften(run *v1alpha1.CleanerRun) bool { return run.Status.Attempts > MaxAttempts }

func nextAttempt(run *v1alpha1.CleanerRun) int32 { return max(run.Status.Attempts, 1) + 1 }

// countAttempt counts one more attempt of a run that has touched nothing yet. One that waits to begin anew ended its
// last attempt itself.
func (j *Journal) countAttempt(ctx context.Context, run *v1alpha1.CleanerRun) error {
	attempts := nextAttempt(run)
	if p := run.Status.Progress; p != nil && p.Phase == v1alpha1.ProgressWaiting {
		attempts = 1
	}
	return wrap(
		"counting the attempts of CleanerRun "+run.Name,
		j.changeIfSame(ctx, run, func(status *v1alpha1.CleanerRunStatus) {
			status.Attempts, status.Progress = attempts, nil
		}),
	)
}

// changeIfSame changes the status of a run that nobody has attempted, or brought further, since it was read: else it
// returns ErrTaken.
func (j *Journal) changeIfSame(
	ctx context.Context,
	run *v1alpha1.CleanerRun,
	change func(*v1alpha1.CleanerRunStatus),
) error {
	before := run.DeepCopy()
	for range conflictTries {
		change(&run.Status)
		if err := j.changeStatus(ctx, run); !apierrors.IsConflict(err) {
			return err
		}
		// It may be but the progress that the operator before wrote last.
		live, err := j.read(ctx, run.Name)
		if err != nil {
			return err
		}
		was, is := &before.Status, &live.Status
		if live.UID != run.UID || is.Recoveries != was.Recoveries || is.Attempts != was.Attempts || is.Phase != was.Phase {
			break
		}
		live.DeepCopyInto(run)
	}
	return ErrTaken
}
