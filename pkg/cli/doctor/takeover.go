// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// takeover is how long a new operator may take until it leads: it waits for the old Lease to run out.
const takeover = 45 * time.Second

// hasJustStarted reports whether the operator's Deployment has a Pod that works, and has had none until a moment ago.
func (p *patient) hasJustStarted() bool {
	if p.deployment == nil {
		return false
	}
	for _, c := range p.deployment.Status.Conditions {
		if c.Type == appsv1.DeploymentAvailable && c.Status == corev1.ConditionTrue &&
			p.there.Sub(c.LastTransitionTime.Time) < takeover {
			return true
		}
	}
	return false
}
