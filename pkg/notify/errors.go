// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import "time"

// Error says why a message was not delivered.
type Error struct {
	// Reason is a sentence, with the way out where there is one.
	Reason string
	// Permanent is true when it is of no use to send the message again as it is.
	Permanent bool
	// RetryAfter is for how long the service asked to be left alone. 0 when it did not say.
	RetryAfter time.Duration
}

// Error implements error.
func (e *Error) Error() string { return e.Reason }
