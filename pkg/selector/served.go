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

// Catalog is what an API server serves.
type Catalog struct {
	// Kinds are all kinds that can be listed, each in the version that its group prefers.
	Kinds []object.Kind
	// Words are what else people call each of the Kinds, at the same place: the singular and the short names of its
	// resource.
	Words [][]string
	// Unserved are the groups of which the API server cannot say what they serve, because the server behind an APIService
	// does not answer.
	Unserved map[string]error
}

// Catalog asks what the API server serves.
func (r *Reader) Catalog(ctx context.Context) (Catalog, error) {
	found := Catalog{Unserved: map[string]error{}}
	for _, root := range []string{"/api", "/apis"} {
		var body []byte
		err := r.persist(ctx, mayPass, func() (err error) {
			body, err = r.request(root).SetHeader("Accept", asDiscovery).Do(ctx).Raw()
			return err
		})
		if err != nil {
			return Catalog{}, fmt.Errorf("asking what the API server serves: %w", err)
		}
		var list discoveryv2.APIGroupDiscoveryList
		if err := json.Unmarshal(body, &list); err != nil {
			return Catalog{}, fmt.Errorf("asking what the API server serves: %w", err)
		}
		if list.Kind != "APIGroupDiscoveryList" {
			return Catalog{}, fmt.Errorf(
				"asking what the API server serves: %s answers with %q instead of an APIGroupDiscoveryList: Kubernetes 1.31 is needed",
				root,
				list.Kind,
			)
		}
		for _, group := range list.Items {
			if err := found.add(group); err != nil {
				found.Unserved[group.Name] = err
			}
		}
	}
	return found, nil
}

// add adds the kinds of one group, each in the first version that has it: the preferred one comes first.
func (c *Catalog) add(group discoveryv2.APIGroupDiscovery) (err error) {
	for _, version := range group.Versions {
		if version.Freshness == discoveryv2.DiscoveryFreshnessStale {
			err = errors.New(
				"the server behind the APIService of " + schema.GroupVersion{
					Group:   group.Name,
					Version: version.Version,
				}.String() + " does not answer",
			)
		}
		for _, resource := range version.Resources {
			known := func(k object.Kind) bool { return k.Group == group.Name && k.Resource == resource.Resource }
			if !hasObjects(group.Name, resource) || slices.ContainsFunc(c.Kinds, known) {
				continue
			}
			gvk := schema.GroupVersionKind{Group: group.Name, Version: version.Version, Kind: resource.ResponseKind.Kind}
			c.Kinds = append(
				c.Kinds,
				object.Kind{
					GroupVersionKind: gvk,
					Resource:         resource.Resource,
					Namespaced:       resource.Scope == discoveryv2.ScopeNamespace,
				},
			)
			c.Words = append(c.Words, append(slices.Clone(resource.ShortNames), resource.SingularResource))
		}
	}
	return err
}

// hasObjects reports whether a resource has objects that can be listed. A ComponentStatus is none: it is made for each
// answer, and has no UID.
func hasObjects(group string, resource discoveryv2.APIResourceDiscovery) bool {
	return resource.ResponseKind != nil && !strings.Contains(resource.Resource, "/") &&
		slices.Contains(resource.Verbs, "list") && (group != "" || resource.Resource != "componentstatuses")
}

// Document reads a document that the API server publishes of itself, such as the schemas of a group and version, by its
// URI.
func (r *Reader) Document(ctx context.Context, uri string) ([]byte, error) {
	return r.read(ctx, r.request("").RequestURI(uri).SetHeader("Accept", "application/json"))
}

// Object reads one object.
func (r *Reader) Object(ctx context.Context, kind object.Kind, namespace, name string) (object.Object, error) {
	body, err := r.get(ctx, kind.Path(namespace, name))
	if err != nil {
		return object.Object{}, err
	}
	return object.New(kind, body)
}
