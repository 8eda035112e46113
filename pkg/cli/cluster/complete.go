// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Named are the names that the kubeconfig has for a flag: context, cluster or user. There are none when it cannot be
// read.
func (c *Connection) Named(flag string) []string {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(c.rules, &clientcmd.ConfigOverrides{}).
		RawConfig()
	if err != nil {
		return nil
	}
	switch flag {
	case "cluster":
		return slices.Sorted(maps.Keys(config.Clusters))
	case "user":
		return slices.Sorted(maps.Keys(config.AuthInfos))
	}
	return slices.Sorted(maps.Keys(config.Contexts))
}

// Namespace is that of the context, which kubectl uses without -n. Empty when the kubeconfig cannot be read.
func (c *Connection) Namespace() string {
	namespace, _, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(c.rules, &c.Overrides).Namespace()
	if err != nil {
		return ""
	}
	return namespace
}

// CompleteObjects completes the objects that the record of a run lists, as KIND/NAMESPACE/NAME.
func CompleteObjects(s *terminal.Session, c *Connection) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
		api, err := Connect(s, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		runs, _ := api.Runs(cmd.Context()) // none, when it fails
		for i := range runs {
			if !slices.Contains(args, runs[i].Name) {
				continue
			}
			for _, o := range runs[i].Status.Objects {
				names = append(names, Ref{o.Kind, o.Namespace, o.Name}.String())
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
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
