// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// clusterScoped are the built-in kinds without namespaces, by group, because manifests do not say. A star is all kinds
// of it.
var clusterScoped = map[string]string{
	"":                             "ComponentStatus Namespace Node PersistentVolume",
	"admissionregistration.k8s.io": "*",
	"apiextensions.k8s.io":         "*",
	"apiregistration.k8s.io":       "*",
	"certificates.k8s.io":          "CertificateSigningRequest ClusterTrustBundle",
	"flowcontrol.apiserver.k8s.io": "*",
	"internal.apiserver.k8s.io":    "*",
	"networking.k8s.io":            "IPAddress IngressClass ServiceCIDR",
	"node.k8s.io":                  "*",
	"rbac.authorization.k8s.io":    "ClusterRole ClusterRoleBinding",
	"resource.k8s.io":              "DeviceClass DeviceTaintRule ResourcePoolStatusRequest ResourceSlice",
	"scheduling.k8s.io":            "PriorityClass",
	"storage.k8s.io":               "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
	"storagemigration.k8s.io":      "*",
	v1alpha1.GroupVersion.Group:    "*",
}

// besides are built-in kinds that client-go has no types of.
var besides = []schema.GroupVersionKind{
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
	{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"},
}

// empty is a cluster with all built-in kinds and no objects.
func empty() (*Cluster, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	d := &Cluster{
		served: map[schema.GroupVersion]map[string]*servedKind{}, ageless: map[schema.GroupKind]int{},
		schemas: map[schema.GroupVersionKind]json.RawMessage{}, lacks: map[schema.GroupVersionKind]object.Kind{},
	}
	for gvk, typ := range scheme.AllKnownTypes() {
		list := gvk
		list.Kind += "List"
		// What has no list is no resource, nor is what has no metadata, such as an APIGroup. Versions that are not final are
		// served only if a manifest is of them.
		if _, ok := typ.FieldByName("ObjectMeta"); !ok {
			continue
		}
		if scheme.Recognizes(list) && (final(gvk.Version) || gvk.Group == v1alpha1.GroupVersion.Group) {
			d.serve(builtInKind(gvk))
		}
	}
	for _, gvk := range besides {
		d.serve(builtInKind(gvk))
	}
	return d, nil
}

var finalVersion = regexp.MustCompile(`^v[0-9]+$`)

func final(version string) bool { return finalVersion.MatchString(version) }

// builtInGroup reports whether Kubernetes itself serves the group, and so what kinds it has is known.
func builtInGroup(group string) bool {
	switch group {
	case "", "apps", "autoscaling", "batch", "extensions", "policy", v1alpha1.GroupVersion.Group:
		return true
	}
	_, scoped := clusterScoped[group]
	return scoped ||
		slices.Contains(
			[]string{
				"authentication.k8s.io",
				"authorization.k8s.io",
				"coordination.k8s.io",
				"discovery.k8s.io",
				"events.k8s.io",
				"lifecycle.k8s.io",
			},
			group,
		)
}

func builtInKind(gvk schema.GroupVersionKind) object.Kind {
	kinds := clusterScoped[gvk.Group]
	return guessedKind(gvk, kinds != "*" && !slices.Contains(strings.Fields(kinds), gvk.Kind))
}

// IsClusterScoped reports whether a kind is a built-in one whose objects have no namespace.
func IsClusterScoped(kind schema.GroupKind) bool {
	return builtInGroup(kind.Group) && !builtInKind(kind.WithVersion("")).Namespaced
}

// guessedKind names the resource as Kubernetes's own kinds do. It serves in paths only, which nobody sees.
func guessedKind(gvk schema.GroupVersionKind, namespaced bool) object.Kind {
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	return object.Kind{GroupVersionKind: gvk, Resource: plural.Resource, Namespaced: namespaced}
}

// kindOf finds out what kind manifests are of: a built-in one, one that a CustomResourceDefinition among the manifests
// describes, or one that can only be guessed.
func kindOf(gvk schema.GroupVersionKind, manifests []*entry, defined map[schema.GroupKind]definition) object.Kind {
	if builtInGroup(gvk.Group) {
		return builtInKind(gvk)
	}
	if d, ok := defined[gvk.GroupKind()]; ok {
		return object.Kind{GroupVersionKind: gvk, Resource: d.plural, Namespaced: d.namespaced}
	}
	if strings.HasPrefix(gvk.Kind, "Cluster") || strings.HasSuffix(gvk.Kind, "Class") {
		return guessedKind(gvk, false)
	}
	namespaced := slices.ContainsFunc(manifests, func(m *entry) bool { return m.namespace != "" })
	fromCluster := slices.ContainsFunc(manifests, func(m *entry) bool { return m.uid != "" })
	return guessedKind(gvk, namespaced || !fromCluster) // an author may leave the namespace out, an API server does not
}

// KindOf is a kind as far as it is known without a manifest: one of Kubernetes' own, or a guess.
func KindOf(gvk schema.GroupVersionKind) object.Kind { return kindOf(gvk, nil, nil) }

// definition is what a CustomResourceDefinition says of its kind.
type definition struct {
	plural     string
	namespaced bool
	versions   []definedVersion
}

// definedVersion is a version that is served, with its schema.
type definedVersion struct {
	name   string
	schema json.RawMessage
}

func sortedGroupVersions[T any](of map[schema.GroupVersion]T) []schema.GroupVersion {
	return slices.SortedFunc(maps.Keys(of), func(a, b schema.GroupVersion) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), version.CompareKubeAwareVersionStrings(b.Version, a.Version))
	})
}
