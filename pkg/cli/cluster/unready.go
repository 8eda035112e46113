// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Examined reports whether the operator has looked at a Cleaner as it stands now.
func Examined(c *v1alpha1.Cleaner) bool {
	ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	return ready != nil && ready.ObservedGeneration == c.Generation
}

// Unready says why the operator does not run a Cleaner as it stands now, also when somebody asks for a run, and what to
// do first. Both are empty when it runs it, or has not looked at it yet.
func Unready(c *v1alpha1.Cleaner) (why, wayOut string) {
	ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	if !Examined(c) || ready.Status == metav1.ConditionTrue ||
		// older operators say False of a suspended one
		ready.Reason == v1alpha1.ReasonSuspended || ready.Reason == v1alpha1.ReasonBudgetExhausted {
		return "", ""
	}
	if strings.Contains(ready.Message, v1alpha1.LostFieldsWords) {
		return ready.Reason + ": " + ready.Message, "first apply its manifest again"
	}
	return ready.Reason + ": " + ready.Message, firstOf(ready.Reason, c.Name)
}

// firstOf is what to do first about a Cleaner that is not ready.
func firstOf(reason, name string) string {
	switch reason {
	case v1alpha1.ReasonForeignController:
		return "first remove the other controller. To look for it: " + terminal.Program + " doctor"
	case v1alpha1.ReasonCRDOutdated: // an edit now may store it without the fields that are dropped
		return "do not edit the Cleaner. To see what to do: " + terminal.Program + " doctor"
	case v1alpha1.ReasonServiceAccountForbidden:
		return "first correct the installation. To see what it lacks: " + terminal.Program + " doctor"
	}
	return "first correct the Cleaner: kubectl edit cleaner " + name
}
