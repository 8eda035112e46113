// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// setReady sets the condition Ready and, beside one that is false, the condition Stalled.
func setReady(cleaner *v1alpha1.Cleaner, status metav1.ConditionStatus, reason, message string) {
	setCondition(cleaner, v1alpha1.ConditionReady, status, reason, message)
	if status == metav1.ConditionFalse && stalls(cleaner, reason) {
		setCondition(cleaner, v1alpha1.ConditionStalled, metav1.ConditionTrue, reason, message)
		return
	}
	meta.RemoveStatusCondition(&cleaner.Status.Conditions, v1alpha1.ConditionStalled)
}

// stalls reports whether nothing but an edit by a person fixes a Cleaner that is not ready for the reason. A kind may
// still be installed, the right to act as an account may still be given, and another controller may fall silent: the
// operator looks for these itself.
func stalls(cleaner *v1alpha1.Cleaner, reason string) bool {
	switch reason {
	case v1alpha1.ReasonUnknownKind:
		return !mayCome(cleaner)
	case v1alpha1.ReasonInvalidSchedule,
		v1alpha1.ReasonInvalidExpression,
		v1alpha1.ReasonInvalidStorage,
		v1alpha1.ReasonServiceAccountRequired,
		v1alpha1.ReasonBudgetExhausted,
		v1alpha1.ReasonCRDOutdated:
		return true
	}
	return false
}

// mayCome reports whether a kind that the Cleaner selects may still be installed: CustomResourceDefinitions have groups
// with a dot. The others, such as apps, are those of Kubernetes itself.
func mayCome(cleaner *v1alpha1.Cleaner) bool {
	return slices.ContainsFunc(cleaner.Spec.ResourcePolicySet.ResourceSelectors, func(s v1alpha1.ResourceSelector) bool {
		return strings.Contains(s.Group, ".")
	})
}
