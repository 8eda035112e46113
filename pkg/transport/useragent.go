// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/util/validation"
)

// cleanerKey is the key of a context's Cleaner.
type cleanerKey struct{}

// ForCleaner is a context whose requests say that they are of a run of the Cleaner. What is not a Cleaner's name is not
// sent.
func ForCleaner(ctx context.Context, name string) context.Context {
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return ctx
	}
	return context.WithValue(ctx, cleanerKey{}, name)
}

// NameCleaners is for the API server's audit log and metrics to distinguish the requests of one Cleaner from those of
// another: the User-Agent of a run's requests is like kubecleaner/v1.2.3 (cleaner/unused-configmaps). All runs share
// the connections of next.
func NameCleaners(next http.RoundTripper) http.RoundTripper { return nameCleaners{next} }

type nameCleaners struct{ next http.RoundTripper }

// WrappedRoundTripper lets client-go reach the connections behind.
func (n nameCleaners) WrappedRoundTripper() http.RoundTripper { return n.next }

// RoundTrip implements http.RoundTripper.
func (n nameCleaners) RoundTrip(request *http.Request) (*http.Response, error) {
	if name, ok := request.Context().Value(cleanerKey{}).(string); ok {
		request = request.Clone(request.Context())
		request.Header.Set("User-Agent", request.UserAgent()+" (cleaner/"+name+")")
	}
	return n.next.RoundTrip(request)
}
