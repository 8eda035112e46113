// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dump lets manifests answer as a cluster would that holds them, so that --from needs no other way to judge.
package dump

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Cluster is a set of manifests that answers as the API server of a cluster that holds them would: a Cleaner is judged
// on it by the very code that judges a cluster. It answers what reading needs, and refuses everything else.
type Cluster struct {
	served map[schema.GroupVersion]map[string]*servedKind // by kind
	// Notes are what a user should know about the manifests.
	Notes []string
	// ageless are how many objects of a kind do not say when they were created.
	ageless map[schema.GroupKind]int
	// Partial is true when a kind of which there is no manifest may have objects all the same.
	Partial bool
	// lacks are the kinds that were asked for and of which, being partial, it does not show whether there are any.
	lacks map[schema.GroupVersionKind]object.Kind
	asked sync.Mutex
	// schemas are those of CustomResourceDefinitions.
	schemas map[schema.GroupVersionKind]json.RawMessage
}

type servedKind struct {
	object.Kind
	objects []*entry
}

// Config is how a client reaches the dump.
func (d *Cluster) Config() *rest.Config {
	return &rest.Config{Host: "http://dump.invalid", Transport: d, QPS: -1}
}

// serve makes a kind known.
func (d *Cluster) serve(kind object.Kind) *servedKind {
	gv := kind.GroupVersion()
	if d.served[gv] == nil {
		d.served[gv] = map[string]*servedKind{}
	}
	if d.served[gv][kind.Kind] == nil {
		d.served[gv][kind.Kind] = &servedKind{Kind: kind}
	}
	return d.served[gv][kind.Kind]
}

// Expect makes ready for a Cleaner and returns what its user should know, and of which kinds that it selects the dump
// holds nothing: those count as empty. One of a built-in group that does not exist stays unknown, with the selector's
// own message.
func (d *Cluster) Expect(cleaner *v1alpha1.Cleaner) (notes []string, missing []object.Kind) {
	for i, selector := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		field := fmt.Sprintf("resourceSelectors[%d]", i)
		gvk := schema.GroupVersionKind{Group: selector.Group, Version: selector.Version, Kind: selector.Kind}
		kind := d.kindOf(gvk, selector.Namespace != "" || selector.NamespaceSelector != "")
		switch {
		case kind == nil:
		case len(kind.objects) == 0:
			missing = append(missing, kind.Kind)
		case selector.MinAgeSeconds != nil && *selector.MinAgeSeconds > 0 && d.ageless[gvk.GroupKind()] > 0:
			notes = append(
				notes,
				fmt.Sprintf(
					"%s: minAgeSeconds leaves %s out that %s no creationTimestamp",
					field,
					terminal.Counted(d.ageless[gvk.GroupKind()], gvk.Kind),
					has(d.ageless[gvk.GroupKind()]),
				),
			)
		}
		if selector.NamespaceSelector != "" && len(d.served[schema.GroupVersion{Version: "v1"}]["Namespace"].objects) == 0 {
			notes = append(
				notes,
				field+": the manifests hold no Namespace, so namespaceSelector selects none; add what kubectl get namespaces -o yaml prints",
			)
			missing = append(missing, d.served[schema.GroupVersion{Version: "v1"}]["Namespace"].Kind)
		}
	}
	slices.Sort(notes)
	return slices.Compact(notes), missing
}

// kindOf is a kind that a Cleaner names. One that is not known is served with no objects, unless its group is built in:
// then there is no such kind, and it is nil.
func (d *Cluster) kindOf(gvk schema.GroupVersionKind, namespaced bool) *servedKind {
	kind := d.served[gvk.GroupVersion()][gvk.Kind]
	if kind == nil && !builtInGroup(gvk.Group) && gvk.Group != "core" {
		return d.serve(guessedKind(gvk, namespaced))
	}
	return kind
}

func has(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

// Lacks are the kinds that were asked for and of which it is not known whether there are any, in no order.
func (d *Cluster) Lacks() []object.Kind {
	d.asked.Lock()
	defer d.asked.Unlock()
	return slices.Collect(maps.Values(d.lacks))
}

// groups are all groups but the core one.
func (d *Cluster) groups() metav1.APIGroupList {
	byName := map[string]*metav1.APIGroup{}
	for _, gv := range sortedGroupVersions(d.served) {
		if gv.Group == "" {
			continue
		}
		version := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
		if byName[gv.Group] == nil {
			byName[gv.Group] = &metav1.APIGroup{Name: gv.Group, PreferredVersion: version}
		}
		byName[gv.Group].Versions = append(byName[gv.Group].Versions, version)
	}
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList"}, Groups: []metav1.APIGroup{}}
	for _, group := range byName {
		list.Groups = append(list.Groups, *group)
	}
	slices.SortFunc(list.Groups, func(a, b metav1.APIGroup) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func resources(gv schema.GroupVersion, kinds map[string]*servedKind) metav1.APIResourceList {
	list := metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: gv.String(), APIResources: []metav1.APIResource{},
	}
	for _, kind := range kinds {
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: kind.Resource, Kind: kind.Kind.Kind, Namespaced: kind.Namespaced, Verbs: metav1.Verbs{"get", "list", "delete"},
		})
	}
	slices.SortFunc(list.APIResources, func(a, b metav1.APIResource) int { return strings.Compare(a.Name, b.Name) })
	return list
}
