// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// foreignError says that another controller may act on the objects of a Cleaner.
type foreignError struct{ error }

// foreignController says which other controller may act on the objects of the Cleaner. Nil when there is none.
func foreignController(cleaner *v1alpha1.Cleaner, now time.Time) error {
	if why := cleaner.ForeignController(now); why != "" {
		return &foreignError{errors.New(why)}
	}
	return nil
}

// alone reads the Cleaner once more, and says which other controller has written its status since the run began. It
// says nothing about a Cleaner that is gone: its deletion stops the run.
func (s Record) alone(ctx context.Context, cleaner *v1alpha1.Cleaner) error {
	live, err := s.Journal.Cleaner(ctx, cleaner.Name, cleaner.UID)
	if err != nil || live == nil {
		return err
	}
	return foreignController(live, s.Clock.Now())
}
