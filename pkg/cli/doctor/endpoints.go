// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"encoding/json"
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"
)

// noEndpoints says that no Pod answers for a Service, by the list of its EndpointSlices. It is empty when one does. An
// endpoint that does not say whether it is ready counts as ready, as in Kubernetes.
func noEndpoints(slicesOf []byte) (why string, err error) {
	var list discoveryv1.EndpointSliceList
	if err := json.Unmarshal(slicesOf, &list); err != nil {
		return "", err
	}
	isReady := func(e discoveryv1.Endpoint) bool { return ptr.Deref(e.Conditions.Ready, true) && len(e.Addresses) > 0 }
	for i := range list.Items {
		if slices.ContainsFunc(list.Items[i].Endpoints, isReady) {
			return "", nil
		}
	}
	return "has no Pod that is ready", nil
}
