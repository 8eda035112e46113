// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// ParseTime reads the value of a flag that is a time.
func ParseTime(flag, text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("--%s %s is no time; write one such as 2026-12-24T18:00:00Z", flag, terminal.Quoted(text))
	}
	return at, nil
}

// Instant is a clock that stands still.
type Instant time.Time

// Now implements clock.PassiveClock.
func (i Instant) Now() time.Time { return time.Time(i) }

// Since implements clock.PassiveClock.
func (i Instant) Since(t time.Time) time.Duration { return time.Time(i).Sub(t) }
