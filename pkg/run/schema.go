// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
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
