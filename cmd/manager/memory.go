// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"
)

const (
	// slimAfter is how long after the start nothing more of it is needed.
	slimAfter = 20 * time.Second
	// slimEvery is how often memory is given back from then on, which takes milliseconds.
	slimEvery = 10 * time.Minute
)

// slimming gives memory back now and then.
type slimming struct{}

// NeedLeaderElection says that a replica that waits does it too.
func (slimming) NeedLeaderElection() bool { return false }

// Start ends with the context.
func (slimming) Start(ctx context.Context) error {
	timer := time.NewTimer(slimAfter)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			slim()
			timer.Reset(slimEvery)
		case <-ctx.Done():
			return nil
		}
	}
}
