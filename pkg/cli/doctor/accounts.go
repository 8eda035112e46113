// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// accountGone looks whether the account is there that a Cleaner names. Who deletes it may mean to end the Cleaner; but
// the operator impersonates a name, which needs no ServiceAccount.
func (p *patient) accountGone(ctx context.Context, c *v1alpha1.Cleaner) []Line {
	named := c.Spec.ServiceAccountRef
	if named == nil {
		return nil
	}
	object := ref("Cleaner", c.Name)
	var account metav1.PartialObjectMetadata
	err := p.api.Read(ctx, "/api/v1/namespaces/"+named.Namespace+"/serviceaccounts/"+named.Name, &account)
	switch {
	case apierrors.IsNotFound(err):
		return []Line{{
			Status: Warn,
			Object: object,
			Message: fmt.Sprintf(
				"ServiceAccount %s does not exist, and the Cleaner still acts: RBAC grants rights to the name", named),
			WayOut: fmt.Sprintf(
				"create it: kubectl -n %s create serviceaccount %s; or, to end the Cleaner: kubectl delete cleaner %s",
				named.Namespace, named.Name, c.Name),
		}}
	case err != nil:
		return []Line{unread(object, "whether ServiceAccount "+named.String()+" exists could not be read", err)}
	}
	return nil
}
