// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// outdatedError says that the API server does not keep all fields of Cleaners, or that nobody knows, or that a Cleaner
// has lost some.
type outdatedError struct{ error }

func (e *outdatedError) Unwrap() error { return e.error }

// CheckSchema says which fields of Cleaners the API server does not keep. An error means that nobody knows.
type CheckSchema func(ctx context.Context) (lacks string, err error)

// intact says why a run may not begin, or not touch anything, because of fields that the API server does not keep.
func (c CheckSchema) intact(ctx context.Context) error {
	lacks, err := c(ctx)
	switch {
	case err != nil:
		return &outdatedError{err}
	case lacks != "":
		return &outdatedError{errors.New(lacks)}
	}
	return nil
}

func lostFields(cleaner string) error {
	return &outdatedError{fmt.Errorf("the Cleaner %s does not run: %s", cleaner, v1alpha1.LostFieldsWords)}
}

// foreignError says that another controller may act on the objects of a Cleaner.
type foreignError struct{ error }

// foreignController says which other controller may act on the objects of the Cleaner. Nil when there is none.
func foreignController(cleaner *v1alpha1.Cleaner, now time.Time) error {
	if why := cleaner.ForeignController(now); why != "" {
		return &foreignError{errors.New(why)}
	}
	return nil
}

// lookAgain reads the Cleaner once more. stopped says why the run must not touch anything: usually a watch stops it,
// but the watch may be late. err says which other controller has written the Cleaner's status meanwhile.
func (s Record) lookAgain(ctx context.Context, t *task) (stopped, err error) {
	live, err := s.Journal.Cleaner(ctx, t.cleaner.Name, t.cleaner.UID)
	switch {
	case err != nil:
		return nil, err
	case live == nil, !live.DeletionTimestamp.IsZero():
		return journal.ErrDeleted, nil
	}
	stopped = journal.Stopped(live, t.record.Name, t.request.WhileSuspended)
	switch {
	case stopped != nil:
		return stopped, nil
	case live.EffectiveAction() == v1alpha1.ActionScan, live.Observing(t.record.Spec.NominalTime.Time) != "":
		return journal.ErrBecameScan, nil
	}
	return nil, foreignController(live, s.Clock.Now())
}
