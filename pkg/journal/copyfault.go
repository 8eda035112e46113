// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import "errors"

// copyFault says that copies could not be written, because of the place where they are kept.
type copyFault struct{ err error }

// Error implements error.
func (e *copyFault) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *copyFault) Unwrap() error { return e.err }

// IsCopyFault reports whether an error is that copies could not be written, because of the place where they are kept.
func IsCopyFault(err error) bool {
	var fault *copyFault
	return errors.As(err, &fault)
}
