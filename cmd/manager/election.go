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
	unfenced := rest.AddUserAgent(rest.CopyConfig(restConfig), "leader-election")
	unfenced.Timeout = max(o.renewDeadline/2, time.Second) // so that one request that hangs does not cost the lease
	client, err := coordinationv1.NewForConfig(unfenced)
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
