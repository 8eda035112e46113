// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// stock says why a Cleaner of the action may not touch an object that Kubernetes itself creates, or is empty. What
// Kubernetes keeps as it should be is protected from a Transform, too. The rest may be transformed: labels on all
// ServiceAccounts, or imagePullSecrets of the default ones, are what people use a Transform for.
func stock(action v1alpha1.Action, o object.Object) string {
	if why := o.KeptByKubernetes(); why != "" || action == v1alpha1.ActionTransform {
		return why
	}
	return o.Stock()
}
