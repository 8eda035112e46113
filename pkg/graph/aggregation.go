// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// aggregations are the ClusterRoles that take in others by their labels: each of these is used by them.
type aggregations struct {
	byName map[Name][]labels.Selector
	labels map[Name]labels.Set
	bytes  int64
}

const aggregationPath = "aggregationRule.clusterRoleSelectors[]"

// inEachCluster are the ClusterRoles of Kubernetes that take in others. Manifests do not have them.
var inEachCluster = map[string]labels.Selector{
	"admin": labels.SelectorFromSet(labels.Set{"rbac.authorization.k8s.io/aggregate-to-admin": "true"}),
	"edit":  labels.SelectorFromSet(labels.Set{"rbac.authorization.k8s.io/aggregate-to-edit": "true"}),
	"view":  labels.SelectorFromSet(labels.Set{"rbac.authorization.k8s.io/aggregate-to-view": "true"}),
}

// add takes note of a ClusterRole. It reports whether it takes in others.
func (a *aggregations) add(o object.Object) bool {
	if o.Kind.GroupKind() != clusterRoleKind {
		return false
	}
	if a.labels == nil {
		a.labels, a.byName = map[Name]labels.Set{}, map[Name][]labels.Selector{}
	}
	raw, name := object.JSON(o.Raw), clonedName(NameOf(o))
	if set := labelSet(raw.At("metadata", "labels")); len(set) > 0 {
		a.labels[name] = set
		a.bytes += int64(256 + 128*len(set))
	}
	var selectors []labels.Selector
	for value := range raw.At("aggregationRule", "clusterRoleSelectors").Elements() {
		selector, err := SelectorOf(value)
		if err != nil {
			selector = labels.Everything() // whatever it means, it may be this one
		}
		selectors = append(selectors, selector)
		a.bytes += 512
	}
	if len(selectors) > 0 {
		a.byName[name] = selectors
	}
	return len(selectors) > 0
}

// of are the ClusterRoles that take in one.
func (a *aggregations) of(name Name) (by []Name) {
	if name.GroupKind != clusterRoleKind {
		return nil
	}
	for other, selectors := range a.byName {
		for _, selector := range selectors {
			if other != name && selector.Matches(a.labels[name]) {
				by = append(by, other)
				break
			}
		}
	}
	for role, selector := range inEachCluster {
		other := Name{GroupKind: clusterRoleKind, Name: role}
		if other != name && a.byName[other] == nil && selector.Matches(a.labels[name]) {
			by = append(by, other)
		}
	}
	return by
}

// evidence is of as Evidence.
func (a *aggregations) evidence(name Name) (found []Evidence) {
	for _, by := range a.of(name) {
		found = append(found, Evidence{From: by, Edge: Edge{To: name, Path: aggregationPath, Strength: Names}})
	}
	return found
}
