// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Forbidden reports whether the API server refused something for want of rights. It looks through joined errors too,
// where errors.As stops at the first that fits.
func Forbidden(err error) bool {
	switch e := err.(type) { //nolint:errorlint // this is the unwrapping
	case nil:
		return false
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if Forbidden(inner) {
				return true
			}
		}
		return false
	case interface{ Unwrap() error }:
		return apierrors.IsForbidden(err) || Forbidden(e.Unwrap())
	}
	return apierrors.IsForbidden(err)
}

// Hinted adds to a message that is for want of rights what to grant.
func Hinted(record *v1alpha1.CleanerRun, reason, message string) string {
	if reason == v1alpha1.ReasonForbidden && strings.Contains(message, " cannot ") { // RBAC's words; webhooks refuse too
		message += ". " + Hint(message, record.Spec.ServiceAccountRef)
	}
	return message
}

// Hint is the way out of a refusal, which the API server worded.
func Hint(refusal string, account *v1alpha1.ServiceAccountRef) string {
	const operator = "Give the operator the right in the ClusterRole or Role for what Cleaners may touch " +
		"(kubecleaner-cleaner-targets), or select less."
	switch {
	case account == nil:
		return operator
	case strings.Contains(refusal, " cannot impersonate"):
		// since Kubernetes 1.36 it may be: cannot impersonate-on:serviceaccount:list
		return "The operator may not act as ServiceAccount " + account.String() + ": apply config/policy (with Helm: policies.enabled=true), or bind its ClusterRole kubecleaner-impersonator to the operator's ServiceAccount."
	case strings.Contains(refusal, `"`+account.Username()+`" cannot `):
		return "Grant ServiceAccount " + account.String() + " the right: a Role with that verb and resource and a RoleBinding in the namespace, or a ClusterRole and a ClusterRoleBinding for the whole cluster; or select less."
	}
	return operator
}
