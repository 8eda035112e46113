// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// As makes a client whose requests are those of a ServiceAccount.
type As func(account v1alpha1.ServiceAccountRef) (rest.Interface, error)

// Impersonate returns an As whose every request names the account to the API server, which then goes by the account's
// rights and not by the operator's. The requests share the operator's connections. config is of plain JSON to absolute
// paths.
func Impersonate(config *rest.Config, operator *http.Client) As {
	shared := operator.Transport
	if shared == nil {
		shared = http.DefaultTransport
	}
	return func(account v1alpha1.ServiceAccountRef) (rest.Interface, error) {
		// In the transport, so that no request can do without. Without groups, the API server adds those of the account.
		named := transport.NewImpersonatingRoundTripper(transport.ImpersonationConfig{UserName: account.Username()}, shared)
		client, err := rest.RESTClientForConfigAndClient(config, &http.Client{Transport: named, Timeout: operator.Timeout})
		if err != nil {
			return nil, fmt.Errorf("making a client for ServiceAccount %s: %w", account, err)
		}
		return client, nil
	}
}
