// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	discoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// asDiscovery asks for all groups, versions and resources in one answer (since Kubernetes 1.30).
const asDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

// Served are all kinds that can be listed, each in the version that its group prefers, and the groups of which the API server cannot say what they
// serve, because the server behind an APIService does not answer.
func (r *Reader) Served(ctx context.Context) (kinds []object.Kind, unserved map[string]error, err error) {
	unserved = map[string]error{}
	for _, root := range []string{"/api", "/apis"} {
		var body []byte
		err := r.persist(ctx, mayPass, func() (err error) {
			body, err = r.request(root).SetHeader("Accept", asDiscovery).Do(ctx).Raw()
			return err
		})
		if err != nil {
			return nil, nil, fmt.Errorf("asking what the API server serves: %w", err)
		}
		var list discoveryv2.APIGroupDiscoveryList
		if err := json.Unmarshal(body, &list); err != nil {
			return nil, nil, fmt.Errorf("asking what the API server serves: %w", err)
		}
		if list.Kind != "APIGroupDiscoveryList" {
			return nil, nil, fmt.Errorf("asking what the API server serves: %s answers with %q instead of an APIGroupDiscoveryList: Kubernetes 1.31 is needed", root, list.Kind)
		}
		for _, group := range list.Items {
			found, err := servedBy(group)
			kinds = append(kinds, found...)
			if err != nil {
				unserved[group.Name] = err
			}
		}
	}
	return kinds, unserved, nil
}

// servedBy are the kinds of one group, each in the first version that has it: the preferred one comes first.
func servedBy(group discoveryv2.APIGroupDiscovery) (kinds []object.Kind, err error) {
	for _, version := range group.Versions {
		if version.Freshness == discoveryv2.DiscoveryFreshnessStale {
			err = errors.New("the server behind the APIService of " + schema.GroupVersion{Group: group.Name, Version: version.Version}.String() + " does not answer")
		}
		for _, resource := range version.Resources {
			known := func(k object.Kind) bool { return k.Group == group.Name && k.Resource == resource.Resource }
			if resource.ResponseKind == nil || strings.Contains(resource.Resource, "/") || !slices.Contains(resource.Verbs, "list") || slices.ContainsFunc(kinds, known) {
				continue
			}
			gvk := schema.GroupVersionKind{Group: group.Name, Version: version.Version, Kind: resource.ResponseKind.Kind}
			kinds = append(kinds, object.Kind{GroupVersionKind: gvk, Resource: resource.Resource, Namespaced: resource.Scope == discoveryv2.ScopeNamespace})
		}
	}
	return kinds, err
}
