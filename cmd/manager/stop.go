// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"k8s.io/client-go/metadata"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/controllers"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

// newSwitch says whether acting is off: always with --dry-run, else while the operator's namespace says so.
func newSwitch(mgr ctrl.Manager, o *options) (*stop.Switch, error) {
	if o.dryRun {
		return stop.Fixed(v1alpha1.DryRunByFlag), nil
	}
	client, err := metadata.NewForConfigAndClient(metadata.ConfigFor(mgr.GetConfig()), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	return stop.Watching(client, o.namespace), nil
}

// watchStops are what watches whether acting is off, and reports it. With --dry-run that never changes, and nobody has
// forgotten a stop.
func watchStops(
	mgr ctrl.Manager,
	off *stop.Switch,
	facts *metrics.Metrics,
	clk clock.WithTicker,
	reconciler *controllers.CleanerReconciler,
) []manager.Runnable {
	if off.Changes == nil {
		return nil
	}
	return []manager.Runnable{off, &controllers.StopWatcher{
		Client: mgr.GetClient(), WhyOff: off.Why, Changes: off.Changes, Metrics: facts, Clock: clk, Wake: reconciler.Finished,
	}}
}
