// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"testing"
	"time"

	"k8s.io/client-go/rest"
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
