// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
)

// groupOrder are the groups in which a kind without a group is looked for first. Events, for example, are of two
// groups.
var groupOrder = []string{
	"",
	"apps",
	"batch",
	"networking.k8s.io",
	"autoscaling",
	"policy",
	"rbac.authorization.k8s.io",
	"storage.k8s.io",
}

// builtIn are the kinds of Kubernetes, each in its newest final version, if it has one: clusters serve no others for
// ever.
func builtIn() []schema.GroupVersionKind {
	best := map[schema.GroupKind]schema.GroupVersionKind{}
	for gvk := range clientgoscheme.Scheme.AllKnownTypes() {
		if gvk.Version == "__internal" || gvk.Group == "extensions" || strings.HasSuffix(gvk.Kind, "List") ||
			strings.HasSuffix(gvk.Kind, "Options") {
			continue
		}
		known, ok := best[gvk.GroupKind()]
		if !ok || version.CompareKubeAwareVersionStrings(gvk.Version, known.Version) > 0 {
			best[gvk.GroupKind()] = gvk
		}
	}
	all := make([]schema.GroupVersionKind, 0, len(best))
	for _, gvk := range best {
		all = append(all, gvk)
	}
	place := func(gvk schema.GroupVersionKind) int {
		if i := slices.Index(groupOrder, gvk.Group); i >= 0 {
			return i
		}
		return len(groupOrder)
	}
	slices.SortFunc(all, func(a, b schema.GroupVersionKind) int {
		if place(a) != place(b) {
			return place(a) - place(b)
		}
		return strings.Compare(a.String(), b.String())
	})
	return all
}

// kinds finds kinds by the names that other tools give them.
type kinds struct{ known []schema.GroupVersionKind }

func newKinds() *kinds { return &kinds{known: builtIn()} }

// named is the kind that Kyverno calls "Pod", "v1/Pod", "apps/v1/Deployment" or "apps/*/Deployment". It is false when
// no kind of Kubernetes is meant and the name does not say all.
func (k *kinds) named(name string) (schema.GroupVersionKind, bool) {
	group, version, kind, ok := kindParts(name)
	if !ok {
		return schema.GroupVersionKind{}, false
	}
	for _, known := range k.known {
		if known.Kind == kind && (group == "*" || group == known.Group) {
			if version != "*" {
				known.Version = version
			}
			return known, true
		}
	}
	return schema.GroupVersionKind{Group: group, Version: version, Kind: kind}, group != "*" && version != "*"
}

// kindParts are the parts of a name, "*" where it says nothing of one. It is false of patterns and subresources.
func kindParts(name string) (group, version, kind string, ok bool) {
	parts := strings.Split(name, "/")
	group, version, kind = "*", "*", parts[len(parts)-1]
	switch len(parts) {
	case 1:
	case 2:
		if version = parts[0]; version != "*" {
			group = ""
		}
	case 3:
		group, version = parts[0], parts[1]
	default:
		return "", "", "", false
	}
	ok = kind != "" && !strings.ContainsAny(kind, "*?.") &&
		(version == "*" || isVersion(version)) // Pod/status is a subresource
	return group, version, kind, ok
}

func isVersion(text string) bool {
	return len(text) > 1 && text[0] == 'v' && text[1] >= '0' && text[1] <= '9'
}

// resource is the kind whose objects are called so in URLs: "deployments". The group is "*" when it is not known.
func (k *kinds) resource(group, plural string) (schema.GroupVersionKind, bool) {
	for _, known := range k.known {
		if pluralOf(known) == strings.ToLower(plural) && (group == "*" || group == known.Group) {
			return known, true
		}
	}
	return schema.GroupVersionKind{}, false
}

// hasGroup reports whether a group is one of Kubernetes, all of whose kinds are known.
func (k *kinds) hasGroup(group string) bool {
	return slices.ContainsFunc(k.known, func(known schema.GroupVersionKind) bool { return known.Group == group })
}

// isClusterScoped reports whether the objects of a selector belong to no namespace, as far as that is known.
func isClusterScoped(s *v1alpha1.ResourceSelector) bool {
	return dump.IsClusterScoped(schema.GroupKind{Group: s.Group, Kind: s.Kind})
}

// neverReads says why kube-janitor never looks at a kind. Empty when it may.
func neverReads(kind schema.GroupVersionKind) string {
	if kind.Kind != "Namespace" && dump.IsClusterScoped(kind.GroupKind()) {
		return "kube-janitor looks only at Namespaces and at kinds whose objects belong to a namespace"
	}
	return ""
}

// pluralOf is what the objects of a kind are most likely called in URLs.
func pluralOf(kind schema.GroupVersionKind) string {
	guessed, _ := meta.UnsafeGuessKindToResource(kind)
	return guessed.Resource
}
