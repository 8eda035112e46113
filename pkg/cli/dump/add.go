// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// add puts the manifests into the dump, completed by what an API server would have added.
func (d *Cluster) add(manifests []*entry) error {
	byKind, defined, err := sorted(manifests)
	if err != nil {
		return err
	}
	for kind, definition := range defined {
		for _, version := range definition.versions {
			d.serve(kindOf(kind.WithVersion(version.name), nil, defined))
			d.schemas[kind.WithVersion(version.name)] = version.schema
		}
	}
	for gvk, of := range byKind {
		served := d.serve(kindOf(gvk, of, defined))
		for _, m := range of {
			if err := complete(m, served.Namespaced); err != nil {
				return terminal.Fail(codes.DumpWrong, fmt.Errorf("%s: %s: %w", m.where, m, err), "")
			}
			if m.created == "" {
				d.ageless[gvk.GroupKind()]++
			}
		}
		served.objects = append(served.objects, of...)
	}
	if err := d.checkUnique(); err != nil {
		return err
	}
	return d.share()
}

// sorted are the manifests by their kinds, and the kinds that some of them define.
func sorted(manifests []*entry) (
	byKind map[schema.GroupVersionKind][]*entry, defined map[schema.GroupKind]definition, err error,
) {
	byKind, defined = map[schema.GroupVersionKind][]*entry{}, map[schema.GroupKind]definition{}
	for _, m := range manifests {
		if err := checkVersion(m); err != nil {
			return nil, nil, err
		}
		byKind[m.gvk] = append(byKind[m.gvk], m)
		if m.gvk.Group == "apiextensions.k8s.io" && m.gvk.Kind == "CustomResourceDefinition" {
			if err := define(defined, m.raw); err != nil {
				return nil, nil, terminal.Fail(codes.DumpWrong, fmt.Errorf("%s: %s: %w", m.where, m, err), "")
			}
		}
	}
	return byKind, defined, nil
}

// define reads a CustomResourceDefinition.
func define(defined map[schema.GroupKind]definition, raw []byte) error {
	var crd struct {
		Spec struct {
			Group    string
			Scope    string
			Names    struct{ Kind, Plural string }
			Versions []struct {
				Name   string
				Served bool
				Schema struct{ OpenAPIV3Schema json.RawMessage }
			}
		}
	}
	if err := json.Unmarshal(raw, &crd); err != nil {
		return err
	}
	d := definition{plural: crd.Spec.Names.Plural, namespaced: crd.Spec.Scope == "Namespaced"}
	for _, version := range crd.Spec.Versions {
		if version.Served {
			d.versions = append(d.versions, definedVersion{version.Name, version.Schema.OpenAPIV3Schema})
		}
	}
	defined[schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}] = d
	return nil
}

// complete adds to a manifest what an API server would have: a namespace, an identity, and to a Secret its data, which
// is where those who hide it look for it.
func complete(m *entry, namespaced bool) (err error) {
	isNamespace, isSecret := m.isCore("Namespace"), m.isCore("Secret")
	was := *m
	if namespaced {
		m.namespace = cmp.Or(m.namespace, "default")
	} else {
		m.namespace = ""
	}
	m.uid = cmp.Or(m.uid, strings.Join([]string{"dump", m.gvk.GroupKind().String(), m.namespace, m.name}, "/"))
	m.resourceVersion = cmp.Or(m.resourceVersion, "1")
	if isNamespace {
		m.labels = labels.Merge(m.labels, labels.Set{"kubernetes.io/metadata.name": m.name})
	}
	if m.namespace == was.namespace && m.uid == was.uid && m.resourceVersion == was.resourceVersion && !isNamespace &&
		!isSecret {
		return nil // as the API server sent it
	}
	m.raw, err = edited(m.raw, func(value map[string]any) {
		metadata, _ := value["metadata"].(map[string]any) // it has a name
		metadata["uid"], metadata["resourceVersion"] = m.uid, m.resourceVersion
		if delete(metadata, "namespace"); m.namespace != "" {
			metadata["namespace"] = m.namespace
		}
		if isNamespace {
			metadata["labels"] = m.labels
		}
		if isSecret {
			EncodeStrings(value)
		}
	})
	return err
}

func (m *entry) isCore(kind string) bool { return m.gvk.Group == "" && m.gvk.Kind == kind }

// EncodeStrings moves a Secret's stringData into data, as the API server does.
func EncodeStrings(secret map[string]any) {
	plain, ok := secret["stringData"].(map[string]any)
	if !ok {
		return
	}
	data, ok := secret["data"].(map[string]any)
	if !ok {
		data = map[string]any{}
		secret["data"] = data
	}
	for key, value := range plain {
		if text, ok := value.(string); ok {
			data[key] = base64.StdEncoding.EncodeToString([]byte(text))
		}
	}
	delete(secret, "stringData")
}

// identity is what an object is, in whatever version.
type identity struct {
	schema.GroupKind
	namespace, name string
}

func (m *entry) identity() identity { return identity{m.gvk.GroupKind(), m.namespace, m.name} }

// checkUnique keeps the later one of two manifests of one object, and refuses two objects with one uid: only one would
// be seen.
func (d *Cluster) checkUnique() error {
	holders := map[string]*entry{}
	for _, gv := range sortedGroupVersions(d.served) {
		for _, kind := range d.served[gv] {
			last := map[identity]*entry{}
			for _, m := range kind.objects {
				id := m.identity()
				if before := last[id]; before != nil {
					d.Notes = append(d.Notes, fmt.Sprintf("%s: %s replaces the one of %s", m.where, m, before.where))
				}
				last[id] = m
				if other := holders[m.uid]; other != nil && !sameObject(other, m) {
					return terminal.Fail(
						codes.DumpWrong,
						fmt.Errorf("%s: %s has the uid of %s (%s)", m.where, m, other, other.where),
						"remove one of the two uids: objects with the same one are taken for the same",
					)
				}
				holders[m.uid] = m
			}
			kind.objects = slices.DeleteFunc(kind.objects, func(m *entry) bool {
				return last[m.identity()] != m
			})
		}
	}
	slices.Sort(d.Notes)
	return nil
}

// sameObject reports whether two manifests with one uid are of one object. Some are served by two groups: Events, by ""
// and by events.k8s.io, so a dump of all kinds holds them twice.
func sameObject(a, b *entry) bool {
	return a.gvk.Kind == b.gvk.Kind && a.namespace == b.namespace && a.name == b.name
}
