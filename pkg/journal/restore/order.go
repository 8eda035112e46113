// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// order is in which kinds are brought back: what others need comes first. Kinds that are not in it, such as those of
// custom resources, come last.
var order = [][]schema.GroupKind{
	{{Kind: "Namespace"}},
	{{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}},
	{
		{Group: "storage.k8s.io", Kind: "StorageClass"},
		{Group: "scheduling.k8s.io", Kind: "PriorityClass"},
		{Group: "node.k8s.io", Kind: "RuntimeClass"},
		{Group: "networking.k8s.io", Kind: "IngressClass"},
	},
	{{Kind: "PersistentVolume"}},
	{{Kind: "PersistentVolumeClaim"}},
	{{Kind: "Secret"}},
	{{Kind: "ConfigMap"}},
	{{Kind: "ServiceAccount"}},
	{{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}, {Group: "rbac.authorization.k8s.io", Kind: "Role"}},
	{
		{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"},
		{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"},
	},
	{{Kind: "Service"}},
	{
		{Kind: "LimitRange"},
		{Kind: "ResourceQuota"},
		{Group: "networking.k8s.io", Kind: "NetworkPolicy"},
	}, // they bind what comes next
	{
		{Group: "apps", Kind: "Deployment"},
		{Group: "apps", Kind: "StatefulSet"},
		{Group: "apps", Kind: "DaemonSet"},
		{Group: "apps", Kind: "ReplicaSet"},
		{Kind: "ReplicationController"},
		{Group: "batch", Kind: "CronJob"},
		{Group: "batch", Kind: "Job"},
		{Kind: "Pod"},
	},
	{{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}, {Group: "policy", Kind: "PodDisruptionBudget"}},
	{
		{Group: "networking.k8s.io", Kind: "Ingress"},
		{Group: "gateway.networking.k8s.io", Kind: "Gateway"},
		{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"},
	},
}

// rankOfDefinitions is the rank of CustomResourceDefinitions, up to which other objects may depend on an item.
const rankOfDefinitions = 1

// rank is the place of a kind in the order.
func rank(kind schema.GroupKind) int {
	for i, kinds := range order {
		if slices.Contains(kinds, kind) {
			return i
		}
	}
	return len(order)
}

// sort puts items into the order in which they are brought back.
func sort(items []*Item) {
	slices.SortStableFunc(items, func(a, b *Item) int {
		return cmp.Or(
			cmp.Compare(rank(a.Kind.GroupKind()), rank(b.Kind.GroupKind())),
			cmp.Compare(a.Kind.Kind, b.Kind.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		)
	})
}
