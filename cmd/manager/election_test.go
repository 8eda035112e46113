// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestElectionLeavesTheOtherClientsAlone: the short timeout is the lease's only, and so is the way around the fence.
func TestElectionLeavesTheOtherClientsAlone(t *testing.T) {
	o, _, err := parseOptions(nil, "", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	config := &rest.Config{Host: "https://server", UserAgent: "kubecleaner/test"}
	var options ctrl.Options
	if _, err := electLeader(config, &options, o); err != nil {
		t.Fatal(err)
	}
	if config.Timeout != 0 || config.UserAgent != "kubecleaner/test" || config.WrapTransport == nil || options.LeaderElectionResourceLockInterface == nil {
		t.Fatalf("the other clients have the timeout %s and the user agent %q; they are fenced: %v", config.Timeout, config.UserAgent, config.WrapTransport != nil)
	}
	if *options.LeaseDuration != 15*time.Second || *options.RenewDeadline != 10*time.Second || *options.RetryPeriod != 2*time.Second {
		t.Fatalf("the times are %s, %s and %s", options.LeaseDuration, options.RenewDeadline, options.RetryPeriod)
	}
}

// TestRenewalsDoNotQueue: --kube-api-qps does not hold the lease back.
func TestRenewalsDoNotQueue(t *testing.T) {
	o, _, err := parseOptions([]string{"--kube-api-qps=1"}, "", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	limiter := flowcontrol.NewTokenBucketRateLimiter(1, 1)
	config := &rest.Config{Host: "https://server", QPS: 1, RateLimiter: limiter}
	if lease := leaseConfig(config, o); lease.RateLimiter != nil || lease.QPS != -1 {
		t.Errorf("the lease's client has the limiter %v and %g requests per second", lease.RateLimiter, lease.QPS)
	}
	if config.RateLimiter != limiter {
		t.Error("the other clients lost their limiter")
	}
}
