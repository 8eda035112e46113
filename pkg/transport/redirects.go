// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"fmt"
	"net/http"
)

// RefuseRedirects makes an error of a redirect: a redirected change would arrive as a GET, whose answer reads as a
// success.
func RefuseRedirects(next http.RoundTripper) http.RoundTripper { return refuseRedirects{next} }

type refuseRedirects struct{ next http.RoundTripper }

// RoundTrip makes an error of a redirect.
func (r refuseRedirects) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err != nil || response.StatusCode < http.StatusMultipleChoices || response.StatusCode >= http.StatusBadRequest ||
		response.StatusCode == http.StatusNotModified {
		return response, err
	}
	_ = response.Body.Close()
	return nil, fmt.Errorf(
		"the API server's address redirects to %q: set the API server's own address in the operator's kubeconfig or environment",
		response.Header.Get("Location"),
	)
}
