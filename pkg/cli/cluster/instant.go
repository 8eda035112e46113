// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"time"
)

// Instant is a clock that stands still.
type Instant time.Time

// Now implements clock.PassiveClock.
func (i Instant) Now() time.Time { return time.Time(i) }

// Since implements clock.PassiveClock.
func (i Instant) Since(t time.Time) time.Duration { return time.Time(i).Sub(t) }
