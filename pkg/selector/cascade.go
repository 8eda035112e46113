// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// manyNamespaces is from how many namespaces on their objects are listed with those of all others, if that is allowed.
// One list for each is less work for the server where they are few, because most kinds have no objects in a namespace.
const manyNamespaces = 20

// NamespaceContent are the kinds whose objects are deleted with their namespace, each once, without those of Events.
func (r *Reader) NamespaceContent(ctx context.Context) ([]object.Kind, error) {
	groups, err := r.groups(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking which groups the API server serves: %w", err)
	}
	var kinds []object.Kind
	for _, group := range groups {
		// A resource may be in some versions of its group only. Of two versions that have it, the preferred one is read.
		slices.SortStableFunc(group.Versions, func(a, b metav1.GroupVersionForDiscovery) int {
			return isNot(a, group.PreferredVersion) - isNot(b, group.PreferredVersion)
		})
		for _, version := range group.Versions {
			gv := schema.GroupVersion{Group: group.Name, Version: version.Version}
			served, err := r.served(ctx, gv)
			if err != nil { // also one that went away meanwhile: another of its versions may not have been asked for yet
				return nil, fmt.Errorf("asking what %s serves: %w", gv, err)
			}
			kinds = appendContent(kinds, gv, served)
		}
	}
	return kinds, nil
}

func isNot(version, preferred metav1.GroupVersionForDiscovery) int {
	if version.Version == preferred.Version {
		return 0
	}
	return 1
}

// appendContent adds the resources of a group-version that can be listed and deleted in a namespace.
func appendContent(kinds []object.Kind, gv schema.GroupVersion, served []metav1.APIResource) []object.Kind {
	for _, resource := range served {
		known := func(k object.Kind) bool { return k.Group == gv.Group && k.Resource == resource.Name }
		switch {
		case !resource.Namespaced || strings.Contains(resource.Name, "/"):
		case !slices.Contains(resource.Verbs, "list") || !slices.Contains(resource.Verbs, "delete"):
		case resource.Kind == "Event" && (gv.Group == "" || gv.Group == "events.k8s.io"):
		case !slices.ContainsFunc(kinds, known):
			kinds = append(
				kinds,
				object.Kind{GroupVersionKind: gv.WithKind(resource.Kind), Resource: resource.Name, Namespaced: true},
			)
		}
	}
	return kinds
}

// Metadata hands each object of the kind in the scope to each, with no more bytes than its metadata where the server
// can do that. The bytes are valid only during the call. An object may come more than once.
func (r *Reader) Metadata(ctx context.Context, kind object.Kind, scope Scope, each func(object.Object) error) error {
	list := func(path string, each func(object.Object) error) error {
		query := query{kind: kind, path: path, metadataOnly: true}
		return r.listAlone(ctx, query, func() error { return nil }, func(raw []byte) error {
			o, err := object.New(kind, raw)
			if err != nil {
				return err
			}
			return each(o)
		})
	}
	if !scope.Cluster && len(scope.Namespaces) >= manyNamespaces {
		wanted := make(map[string]bool, len(scope.Namespaces))
		for _, namespace := range scope.Namespaces {
			wanted[namespace] = true
		}
		err := list(kind.Path("", ""), func(o object.Object) error {
			if !wanted[o.Namespace] {
				return nil
			}
			return each(o)
		})
		if !apierrors.IsForbidden(err) {
			return err
		}
	}
	for _, path := range scope.paths(kind) {
		// That a kind is not found does not say that it has no objects: only its version may be gone.
		if err := list(path, each); err != nil {
			return err
		}
	}
	return nil
}

// Ancestors finds out who owns objects, directly or not. Each owner is read once.
type Ancestors struct {
	reader *Reader
	memory *Share
	known  map[ownerKey][]metav1.OwnerReference
}

// ownerKey is all of a reference that says where its owner is. Several may name one UID, and some of them lead nowhere:
// their version is not served any more, or their name is wrong.
type ownerKey struct {
	namespace, apiVersion, kind, name string
	uid                               types.UID
}

func keyOf(namespace string, of *metav1.OwnerReference) ownerKey {
	return ownerKey{namespace, of.APIVersion, of.Kind, of.Name, of.UID}
}

// NewAncestors returns Ancestors that read with the Reader, and keep what they read in the memory.
func NewAncestors(reader *Reader, memory *Share) *Ancestors {
	return &Ancestors{reader: reader, memory: memory, known: map[ownerKey][]metav1.OwnerReference{}}
}

// Of returns the UIDs of all that own the object.
func (a *Ancestors) Of(ctx context.Context, o object.Object) ([]types.UID, error) {
	metadata, err := apiserver.Metadata(o)
	if err != nil {
		return nil, err
	}
	var found []types.UID
	seen := map[ownerKey]bool{}
	for next := metadata.OwnerReferences; len(next) > 0; {
		owner := next[0]
		next = next[1:]
		key := keyOf(o.Namespace, &owner)
		if seen[key] { // by another way, or in a circle
			continue
		}
		seen[key] = true
		if !slices.Contains(found, owner.UID) {
			found = append(found, owner.UID)
		}
		owners, err := a.ownersOf(ctx, o.Namespace, owner)
		if err != nil {
			return nil, fmt.Errorf("finding out who owns %s: %w", o, err)
		}
		next = append(next, owners...)
	}
	return found, nil
}

// ownerSize is about what the owners of one object take.
const ownerSize = 300

// ownersOf are the owners of an owner.
func (a *Ancestors) ownersOf(
	ctx context.Context,
	namespace string,
	of metav1.OwnerReference,
) ([]metav1.OwnerReference, error) {
	key := keyOf(namespace, &of)
	if owners, ok := a.known[key]; ok {
		return owners, nil
	}
	owners, err := a.reader.ownersOf(ctx, namespace, of)
	if err != nil {
		return nil, err
	}
	size := ownerSize*(1+len(owners)) + len(of.APIVersion) + len(of.Kind) + len(of.Name)
	if err := a.memory.add(int64(size)); err != nil {
		return nil, fmt.Errorf("not enough memory for the owners of protected objects: %w", err)
	}
	a.known[key] = owners
	return owners, nil
}

// ownersOf reads the owners of an owner. One that is gone has none any more, nor has one that cannot be, by its name.
func (r *Reader) ownersOf(
	ctx context.Context,
	namespace string,
	of metav1.OwnerReference,
) ([]metav1.OwnerReference, error) {
	gvk := schema.FromAPIVersionAndKind(of.APIVersion, of.Kind)
	isName := func(text string) bool { return apiserver.CheckSegment(text) == nil }
	if !isName(gvk.Group) || !isName(gvk.Version) || !isName(of.Name) {
		return nil, nil
	}
	kind, err := r.Resolve(ctx, gvk)
	if unknown := (*UnknownKindError)(nil); errors.As(err, &unknown) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !kind.Namespaced {
		namespace = ""
	}
	body, err := r.metadataOf(ctx, kind.Path(namespace, of.Name))
	if apiserver.IsAbsent(err, of.Name) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", of.Kind, of.Name, err)
	}
	owner, err := object.New(kind, body)
	if err != nil || owner.UID != of.UID {
		return nil, err
	}
	metadata, err := apiserver.Metadata(owner)
	return metadata.OwnerReferences, err
}

// metadataOf reads the metadata of one object. A server that cannot do that sends it whole.
func (r *Reader) metadataOf(ctx context.Context, path string) ([]byte, error) {
	if err := apiserver.CheckPath(path); err != nil {
		return nil, err
	}
	const accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	return r.read(ctx, r.request(path).SetHeader("Accept", accept))
}
