// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// sweepEvery is how often the records of all runs are looked through.
const sweepEvery = 10 * time.Minute

// Sweeper drops copies whose time is over, and closes runs that nobody else will: those whose Cleaner is gone.
type Sweeper struct {
	// Client reads Cleaners from the API server, not from a cache: one that is not there is gone.
	Client  client.Reader
	Journal *journal.Journal
	Clock   clock.WithTicker
	// MaxBytes is how much the copies of all runs may take together, in bytes.
	MaxBytes int64
	// Busy reports whether a run of the named Cleaner goes on in this process.
	Busy func(name string) bool
	// Close brings a run that was cut off to its end without touching anything more.
	Close func(ctx context.Context, run *v1alpha1.CleanerRun)
}

// NeedLeaderElection says that only the leader sweeps.
func (s *Sweeper) NeedLeaderElection() bool { return true }

// Start sweeps now and then until the context ends.
func (s *Sweeper) Start(ctx context.Context) error {
	ticker := s.Clock.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := s.guarded(ctx); err != nil {
			klog.FromContext(ctx).Error(err, "Could not sweep the records of old runs")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// guarded sweeps, and turns a panic into an error: it would end the process, at each start anew.
func (s *Sweeper) guarded(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a fault of KubeCleaner: %v\n%s", p, debug.Stack())
		}
	}()
	return s.Sweep(ctx)
}

// Sweep looks through the records of all runs once.
func (s *Sweeper) Sweep(ctx context.Context) error {
	unfinished, err := s.Journal.Sweep(ctx, s.MaxBytes, func(name string, uid types.UID) (*v1alpha1.Cleaner, error) {
		return s.find(ctx, name, uid)
	})
	for i := range unfinished {
		run := &unfinished[i]
		if s.Busy(run.Spec.Cleaner) {
			continue
		}
		cleaner, findErr := s.find(ctx, run.Spec.Cleaner, run.Spec.CleanerUID)
		if findErr == nil && !isExpected(cleaner, run) {
			s.Close(ctx, run)
		}
	}
	return err
}

func (s *Sweeper) find(ctx context.Context, name string, uid types.UID) (*v1alpha1.Cleaner, error) {
	var cleaner v1alpha1.Cleaner
	err := s.Client.Get(ctx, client.ObjectKey{Name: name}, &cleaner)
	switch {
	case object.IsAbsent(err, name), err == nil && cleaner.UID != uid:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &cleaner, nil
}

// isExpected reports whether a Cleaner's reconciliation is going to bring the run to its end.
func isExpected(cleaner *v1alpha1.Cleaner, run *v1alpha1.CleanerRun) bool {
	if cleaner == nil {
		return false
	}
	active := cleaner.Status.ActiveRun
	return active != nil && active.Name == run.Name
}
