// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// reach asks the API server whether it serves Cleaners. What needs them first says of a failure neither which server it
// asked nor, of most, what it was.
func reach(ctx context.Context, restConfig *rest.Config) error {
	server, _, err := rest.DefaultServerUrlFor(restConfig)
	if err != nil {
		return fmt.Errorf("reading the API server's address: %w", err)
	}
	asking, err := discovery.NewDiscoveryClientForConfig(restConfig)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	if _, err = asking.ServerResourcesForGroupVersionWithContext(ctx, v1alpha1.GroupVersion.String()); err != nil {
		return fmt.Errorf(
			"asking the API server %s for %s: %w; %s",
			server.Redacted(),
			v1alpha1.GroupVersion,
			err,
			wayIn(err),
		)
	}
	return nil
}

// wayIn is what to look at when the API server does not say what it serves.
func wayIn(err error) string {
	switch {
	case apierrors.IsUnauthorized(err):
		return "check the credentials in KUBECONFIG or, in a Pod, the token of its ServiceAccount"
	case apierrors.IsForbidden(err):
		return "check who the operator is, in KUBECONFIG or by the Pod's ServiceAccount, and that the ClusterRole system:discovery is bound to it"
	case apierrors.IsNotFound(err):
		return "install the CustomResourceDefinitions of KubeCleaner"
	}
	return "check the server that KUBECONFIG names or, in a Pod, what is on the way to it"
}
