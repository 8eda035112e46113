// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// Contexts are the names of the kubeconfig's contexts. There are none when it cannot be read.
func (c *Connection) Contexts() []string {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(c.rules, &clientcmd.ConfigOverrides{}).
		RawConfig()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(config.Contexts))
}

// Namespaces are the names of the cluster's namespaces.
func (c *Client) Namespaces(ctx context.Context) (names []string, err error) {
	err = List[corev1.NamespaceList](
		ctx,
		c,
		"/api/v1/namespaces",
		func(n *corev1.Namespace) { names = append(names, n.Name) },
	)
	return names, err
}

// ServiceAccounts are the accounts of the cluster, as NAMESPACE/NAME.
func (c *Client) ServiceAccounts(ctx context.Context) (names []string, err error) {
	err = List[corev1.ServiceAccountList](
		ctx,
		c,
		"/api/v1/serviceaccounts",
		func(a *corev1.ServiceAccount) { names = append(names, a.Namespace+"/"+a.Name) },
	)
	return names, err
}
