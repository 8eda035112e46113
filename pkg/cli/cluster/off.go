// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// WhyOff says why all Cleaners only report now, as the status of this one has it. It is not about spec.scanUntil, which
// is of one Cleaner. Empty when Cleaners act.
func WhyOff(c *v1alpha1.Cleaner) string {
	if c.Status.DryRunReason == c.Observing(time.Time{}) {
		return ""
	}
	return c.Status.DryRunReason
}
