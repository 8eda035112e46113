// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kinds knows, without a cluster, which kinds Kubernetes has and which fields their objects have. The types
// that the plugin is built with say so: there is no second description of them to keep up to date.
package kinds

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// Known are the built-in kinds, and those whose schemas were given.
type Known struct {
	types map[schema.GroupVersionKind]reflect.Type // nil for a kind without types
	// removed says in which minor version the kinds went that no supported Kubernetes serves.
	removed map[schema.GroupVersionKind]int
	// given are documents of OpenAPI v3.
	given []object.JSON
	// served are the versions of the given CustomResourceDefinitions, which have all that a cluster serves.
	served map[schema.GroupKind][]string
}

// oldest is the oldest minor version of Kubernetes that is supported; docs/reference/versions.md names it.
const oldest = 31

// New knows the built-in kinds.
func New() (*Known, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("reading the built-in kinds: %w", err)
		}
	}
	k := &Known{
		types: map[schema.GroupVersionKind]reflect.Type{}, removed: map[schema.GroupVersionKind]int{},
		served: map[schema.GroupKind][]string{},
	}
	for gvk, typ := range scheme.AllKnownTypes() {
		// What has no list is no resource, nor is what has no metadata, such as an APIGroup.
		if _, ok := typ.FieldByName("ObjectMeta"); ok && scheme.Recognizes(gvk.GroupVersion().WithKind(gvk.Kind+"List")) {
			k.sort(gvk, typ)
		}
	}
	k.types[schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}] = nil
	return k, nil
}

// sort puts a kind among those that there are, or that were removed.
func (k *Known) sort(gvk schema.GroupVersionKind, typ reflect.Type) {
	if ends, ok := reflect.New(typ).Interface().(interface{ APILifecycleRemoved() (major, minor int) }); ok {
		if major, minor := ends.APILifecycleRemoved(); major == 1 && minor <= oldest {
			k.removed[gvk] = minor
			return
		}
	}
	k.types[gvk] = typ
}

// Schema is what Check of pkg/expr/cel needs to know of a kind. Nil when nothing is known.
func (k *Known) Schema(gvk schema.GroupVersionKind) *spec.Schema {
	for _, document := range k.given {
		if found := cel.Resolve(document, gvk); found != nil {
			return found
		}
	}
	if typ := k.types[gvk]; typ != nil {
		return schemaOf(gvk, typ)
	}
	return nil
}

// Wrong says why no cluster has a kind, and what may be meant. It is empty for a kind that exists, and for one of a
// group that is not of Kubernetes, unless the given schemas have it in another case or in the singular.
func (k *Known) Wrong(gvk schema.GroupVersionKind) (message, hint string) {
	minor, isRemoved := k.removed[gvk]
	_, ok := k.types[gvk]
	if message, hint := k.wrongGiven(gvk); message != "" {
		return message, hint
	}
	if ok || !k.isBuiltIn(gvk.Group) && !isRemoved || k.Schema(gvk) != nil {
		return "", ""
	}
	there := gvk.GroupVersion().String()
	message = fmt.Sprintf("Kubernetes has no kind %s in %s", gvk.Kind, there)
	if isRemoved {
		message = fmt.Sprintf("Kubernetes has had no kind %s in %s since 1.%d", gvk.Kind, there, minor)
	}
	if sameName := k.where(func(other schema.GroupVersionKind) bool { return other.Kind == gvk.Kind }); len(sameName) > 0 {
		return message, "it is in " + terminal.OrList(written(sameName))
	}
	near := k.Meant(gvk.Kind)
	places := k.where(func(other schema.GroupVersionKind) bool { return other.Kind == near })
	switch {
	case near == "":
		return message, "kubectl api-resources lists the kinds of your cluster; if it is newer than this plugin, give its schemas: --schemas FILE"
	case slices.Contains(places, gvk.GroupVersion()):
		return message + "; did you mean " + terminal.Quoted(near) + "?", ""
	}
	return message + "; did you mean " + terminal.Quoted(near) + "?", near + " is in " + terminal.OrList(written(places))
}

// wrongGiven is Wrong by the given schemas: they have the kind in another case, in the plural, or not in the version.
func (k *Known) wrongGiven(gvk schema.GroupVersionKind) (message, hint string) {
	if _, is := k.types[gvk]; is {
		return "", ""
	}
	if near := k.misspeltGiven(gvk); near != "" {
		return fmt.Sprintf("the given schemas have no kind %s in group %s; did you mean %s?",
			gvk.Kind, gvk.Group, terminal.Quoted(near)), ""
	}
	versions := k.served[gvk.GroupKind()]
	if len(versions) == 0 || slices.Contains(versions, gvk.Version) {
		return "", ""
	}
	return fmt.Sprintf("the given CustomResourceDefinition serves no version %s of %s in group %s",
		gvk.Version, gvk.Kind, gvk.Group), "it serves " + terminal.AndList(versions)
}

// isBuiltIn reports whether all kinds of a group are known. Some people write the core group by its name.
func (k *Known) isBuiltIn(group string) bool {
	return group == "core" || len(k.where(func(other schema.GroupVersionKind) bool { return other.Group == group })) > 0
}

// Meant is the kind that somebody meant: kinds are in the singular, and resources, such as deployments, are not kinds.
func (k *Known) Meant(kind string) string {
	var names []string
	for other := range maps.Keys(k.types) {
		names = append(names, other.Kind)
	}
	slices.Sort(names)
	return cmp.Or(suggest.Misspelt(kind, names), suggest.Nearest(kind, names))
}

// where are the groups and versions of the kinds that are wanted. Versions that are not final come in only where there
// is no other.
func (k *Known) where(wanted func(schema.GroupVersionKind) bool) []schema.GroupVersion {
	var final, others []schema.GroupVersion
	for gvk := range k.types {
		switch gv := gvk.GroupVersion(); {
		case !wanted(gvk):
		case strings.ContainsAny(gv.Version, "ab"): // alpha, beta
			others = append(others, gv)
		default:
			final = append(final, gv)
		}
	}
	if len(final) == 0 {
		final = others
	}
	slices.SortFunc(final, func(a, b schema.GroupVersion) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(final)
}

// written is how to write groups and versions in a selector.
func written(gvs []schema.GroupVersion) []string {
	words := make([]string, 0, len(gvs))
	for _, gv := range gvs {
		words = append(words, fmt.Sprintf("group: %s, version: %s", groupWord(gv.Group), gv.Version))
	}
	return words
}

func groupWord(group string) string {
	if group == "" {
		return `""`
	}
	return group
}
