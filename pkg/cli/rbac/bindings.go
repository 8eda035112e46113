// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/rights"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// warnOfBindings says, above the binding and to whoever pipes the output, which bindings exist with another roleRef:
// Kubernetes lets nobody change that, so kubectl apply would fail. What may not be read is taken as it should be. The
// documents are those of the account, as rights.ForAccount returns them.
func (o *options) warnOfBindings(
	ctx context.Context,
	api *cluster.Client,
	account v1alpha1.ServiceAccountRef,
	roles []rights.Role,
	documents []string,
) {
	name := rights.NameFor(account)
	for i, role := range roles {
		wants := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: role.Kind(), Name: name}
		kind, resource, in := role.Kind()+"Binding", "clusterrolebindings", ""
		if role.Namespace != "" {
			resource, in = "rolebindings", " -n "+role.Namespace
		}
		of := object.Kind{GroupVersionKind: rbacv1.SchemeGroupVersion.WithKind(kind), Resource: resource}
		var found rbacv1.RoleBinding // a ClusterRoleBinding has the same fields
		if api.Read(ctx, of.Path(role.Namespace, name), &found) != nil || found.RoleRef == wants {
			continue
		}
		text := fmt.Sprintf("%s %s exists for %s %s, and apply cannot change that: delete the binding first: kubectl delete %s%s %s",
			kind, name, terminal.OneLine(found.RoleRef.Kind), terminal.OneLine(found.RoleRef.Name), resource, in, name)
		o.Note("%s", text)
		documents[2+2*i] = "# " + o.Repeated(text) + "\n" + documents[2+2*i]
	}
}
