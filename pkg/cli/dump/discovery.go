// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	discoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// discovery is what is served below /api or /apis, in one answer.
func (d *Cluster) discovery(root string) discoveryv2.APIGroupDiscoveryList {
	list := discoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{APIVersion: discoveryv2.SchemeGroupVersion.String(), Kind: "APIGroupDiscoveryList"},
	}
	for _, gv := range sortedGroupVersions(d.served) { // the versions of a group stand together, the preferred one first
		if (gv.Group == "") != (root == "/api") {
			continue
		}
		if last := len(list.Items) - 1; last < 0 || list.Items[last].Name != gv.Group {
			list.Items = append(list.Items, discoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: gv.Group}})
		}
		group := &list.Items[len(list.Items)-1]
		group.Versions = append(group.Versions, discoveryv2.APIVersionDiscovery{
			Version: gv.Version, Freshness: discoveryv2.DiscoveryFreshnessCurrent, Resources: discovered(d.served[gv]),
		})
	}
	return list
}

func discovered(kinds map[string]*servedKind) []discoveryv2.APIResourceDiscovery {
	var found []discoveryv2.APIResourceDiscovery
	for _, kind := range kinds {
		scope := discoveryv2.ScopeCluster
		if kind.Namespaced {
			scope = discoveryv2.ScopeNamespace
		}
		found = append(found, discoveryv2.APIResourceDiscovery{
			Resource:         kind.Resource,
			SingularResource: strings.ToLower(kind.Kind.Kind),
			Scope:            scope,
			Verbs:            []string{"get", "list"},
			ShortNames:       terminal.ShortNames(kind.Kind.Kind),
			ResponseKind:     &metav1.GroupVersionKind{Group: kind.Group, Version: kind.Version, Kind: kind.Kind.Kind},
		})
	}
	slices.SortFunc(
		found,
		func(a, b discoveryv2.APIResourceDiscovery) int { return strings.Compare(a.Resource, b.Resource) },
	)
	return found
}

// openAPI is the index of the schemas that CustomResourceDefinitions have or, with the path of a group and version,
// those of its kinds.
func (d *Cluster) openAPI(path string) (io.Reader, error) {
	type url struct {
		ServerRelativeURL string `json:"serverRelativeURL"`
	}
	paths, schemas := map[string]url{}, map[string]json.RawMessage{}
	for gvk, text := range d.schemas {
		of := strings.TrimPrefix(object.GroupVersionPath(gvk.GroupVersion()), "/")
		paths[of] = url{"/openapi/v3/" + of}
		if of == path {
			schema, err := publishedSchema(gvk, text)
			if err != nil {
				return nil, err
			}
			schemas[gvk.GroupKind().String()] = schema
		}
	}
	if path == "" {
		return encoded(map[string]any{"paths": paths})
	}
	return encoded(map[string]any{"components": map[string]any{"schemas": schemas}})
}

// publishedSchema is a schema as an API server publishes it: it says of what kind it is.
func publishedSchema(gvk schema.GroupVersionKind, text json.RawMessage) (json.RawMessage, error) {
	if len(text) == 0 {
		text = json.RawMessage(`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`)
	}
	return edited(text, func(value map[string]any) {
		value["x-kubernetes-group-version-kind"] = []map[string]string{
			{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind},
		}
	})
}
