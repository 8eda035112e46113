// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/transport"
)

// electLeader makes the manager wait for the lease, and fences all that is sent by restConfig from now on. The lease
// itself is written without a fence, by whoever wants to have it.
func electLeader(restConfig *rest.Config, options *ctrl.Options, o *options) (*resourcelock.LeaseLock, error) {
	hostname, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("reading the host's name: %w", err)
	}
	client, err := coordinationv1.NewForConfig(leaseConfig(restConfig, o))
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	lease := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: o.namespace, Name: leaseName},
		Client:     client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: hostname + "_" + string(uuid.NewUUID())},
	}
	fence := transport.NewFence(o.renewDeadline, transport.SinceBoot, journal.ErrTaken)
	restConfig.Wrap(fence.Wrap)
	options.LeaderElectionResourceLockInterface = &transport.FencedLock{Interface: lease, Fence: fence}
	options.LeaseDuration, options.RenewDeadline, options.RetryPeriod = &o.leaseDuration, &o.renewDeadline, &o.retryPeriod
	return lease, nil
}

// leaseConfig is the configuration of the client of the lease.
func leaseConfig(restConfig *rest.Config, o *options) *rest.Config {
	config := rest.AddUserAgent(rest.CopyConfig(restConfig), "leader-election")
	config.Timeout = max(o.renewDeadline/2, time.Second) // so that one request that hangs does not cost the lease
	// A renewal that queues behind other requests comes too late, and then the fence refuses all of them.
	config.RateLimiter, config.QPS = nil, -1
	return config
}
