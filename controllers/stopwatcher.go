// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
)

// StopWatcher wakes every Cleaner when all acting is stopped, and when it goes on.
type StopWatcher struct {
	// Client reads Cleaners from the cache.
	Client client.Reader
	// WhyOff says why acting is off, and Changes gets a value when that changes.
	WhyOff  func() string
	Changes <-chan struct{}
	Metrics *metrics.Metrics
	Clock   clock.WithTicker
	// Wake makes a Cleaner be looked at.
	Wake func(name string)

	// shown is what the Cleaners were woken for last.
	shown string
}

// NeedLeaderElection says that only the leader wakes Cleaners: the others write no status.
func (w *StopWatcher) NeedLeaderElection() bool { return true }

// Start reports each change until the context ends. The ticker is for Cleaners that could not be listed.
func (w *StopWatcher) Start(ctx context.Context) error {
	ticker := w.Clock.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		w.Look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-w.Changes:
		case <-ticker.C():
		}
	}
}

// Look looks once.
func (w *StopWatcher) Look(ctx context.Context) {
	why := w.WhyOff()
	w.Metrics.ActingStopped(why != "")
	if why == w.shown {
		return
	}
	var cleaners v1alpha1.CleanerList
	if err := w.Client.List(ctx, &cleaners); err != nil {
		klog.FromContext(ctx).Error(err, "Could not list the Cleaners")
		return
	}
	w.shown = why
	for i := range cleaners.Items {
		w.Wake(cleaners.Items[i].Name)
	}
}
