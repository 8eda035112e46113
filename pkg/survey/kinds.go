// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// Mistaken says of a kind in declared references why it cannot be meant: its group has no such kind. Of other groups
// than those of Kubernetes, not all kinds need be there yet: what differs from one that is there in case or by its
// plural only is a mistake.
func Mistaken(catalog *selector.Catalog) func(schema.GroupKind) error {
	known := map[string][]string{}
	for _, kind := range slices.Concat(builtInKinds(), served(catalog)) {
		if !slices.Contains(known[kind.Group], kind.Kind) {
			known[kind.Group] = append(known[kind.Group], kind.Kind)
		}
	}
	return func(kind schema.GroupKind) error {
		_, isDown := catalog.Unserved[kind.Group]
		if isDown || slices.Contains(known[kind.Group], kind.Kind) {
			return nil
		}
		return mistake(kind, known)
	}
}

// mistake says why a kind that is not known cannot be meant, if so.
func mistake(kind schema.GroupKind, known map[string][]string) error {
	// Some people write the core group by its name, and the version of a group before it, as kubectl reads it.
	if kind.Group == "core" {
		return fmt.Errorf("the core group has no name: write %s", cmp.Or(meant(kind.Kind, known[""]), kind.Kind))
	}
	if rest := withoutVersion(kind.Group); rest != "" && known[kind.Group] == nil {
		if near := meant(kind.Kind, known[rest]); near != "" {
			return fmt.Errorf("group %q has a version: write %s", kind.Group, schema.GroupKind{Group: rest, Kind: near})
		}
	}
	near := meant(kind.Kind, known[kind.Group])
	if near == "" && (!isBuiltIn(kind.Group) || kind.Group == v1alpha1.GroupVersion.Group) {
		return nil
	}
	return lacks(kind, near, known)
}

// withoutVersion is a group without the version that it begins with. Some real groups do: v2.edp.epam.com.
func withoutVersion(group string) string {
	first, rest, _ := strings.Cut(group, ".")
	if len(first) > 1 && first[0] == 'v' && first[1] >= '0' && first[1] <= '9' {
		return rest
	}
	return ""
}

// lacks says that a group has no such kind, and what to write instead: near, or the same kind of another group.
func lacks(kind schema.GroupKind, near string, known map[string][]string) error {
	where := fmt.Sprintf("group %q", kind.Group)
	hint := "kubectl api-resources lists those of the cluster"
	if kind.Group == "" {
		where, hint = "the core group", "write its group after a dot, as in Deployment.apps"
	}
	words := []string{schema.GroupKind{Group: kind.Group, Kind: near}.String()}
	if near == "" {
		words = elsewhere(kind.Kind, known)
	}
	if len(words) > 0 {
		hint = "write " + strings.Join(words, " or ")
	}
	return fmt.Errorf("%s has no kind %q: %s", where, kind.Kind, hint)
}

// elsewhere are the kinds of all groups that are written like this one. The group extensions went with Kubernetes 1.22.
func elsewhere(kind string, known map[string][]string) (words []string) {
	for _, group := range slices.Sorted(maps.Keys(known)) {
		if near := meant(kind, known[group]); near != "" && group != "extensions" {
			words = append(words, schema.GroupKind{Group: group, Kind: near}.String())
		}
	}
	return words
}

// meant is the one of the kinds that is written like this, whatever the case, or in the plural.
func meant(kind string, kinds []string) string {
	if slices.Contains(kinds, kind) {
		return kind
	}
	return suggest.Misspelt(kind, kinds)
}

// builtInKinds are the kinds of Kubernetes, also those that it has no longer. What has no list is no resource.
func builtInKinds() []schema.GroupKind {
	kinds := []schema.GroupKind{
		{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
		{Group: "apiregistration.k8s.io", Kind: "APIService"},
	}
	for gvk := range clientgoscheme.Scheme.AllKnownTypes() {
		if clientgoscheme.Scheme.Recognizes(gvk.GroupVersion().WithKind(gvk.Kind + "List")) {
			kinds = append(kinds, gvk.GroupKind())
		}
	}
	return kinds
}

// served are the kinds that the cluster has.
func served(catalog *selector.Catalog) []schema.GroupKind {
	kinds := make([]schema.GroupKind, 0, len(catalog.Kinds))
	for _, kind := range catalog.Kinds {
		kinds = append(kinds, kind.GroupKind())
	}
	return kinds
}

// Unserved are the kinds in declared references that the cluster does not have: they name nothing there.
func Unserved(catalog *selector.Catalog, declared []graph.Source) (kinds []string) {
	for _, source := range declared {
		for _, kind := range source.Named() {
			if !mayServe(catalog, catalog.Unserved, kind) && !slices.Contains(kinds, kind.String()) {
				kinds = append(kinds, kind.String())
			}
		}
	}
	return kinds
}

// UnservedWords say so of the kinds.
func UnservedWords(kinds []string) string {
	return "the cluster does not have these kinds, so the references declared for them have no effect: " +
		strings.Join(kinds, ", ")
}
