// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// plan says which lists the rows need.
func (f *Finder) plan() []List {
	sources, kinds := map[schema.GroupKind]bool{}, map[schema.GroupKind]bool{}
	selective := map[schema.GroupKind]bool{} // kinds whose rows select Pods
	for _, name := range f.Watched {
		for _, kind := range f.Table.NamedBy(name.GroupKind) {
			sources[kind] = true
		}
	}
	for _, r := range f.rows {
		if r.named {
			for _, kind := range f.Table.NamedBy(r.kind) {
				sources[kind] = true
			}
		}
		if r.pods {
			selective[r.kind] = true
			for _, kind := range f.Table.PodKinds() {
				sources[kind] = true
			}
		}
		for _, kind := range r.reads {
			kinds[kind] = true
		}
	}
	var lists []List
	for _, kind := range f.Served {
		gk := kind.GroupKind()
		whole := List{Kind: kind, MetadataOnly: !sources[gk], source: sources[gk], Everywhere: sources[gk] && f.Table.CrossesNamespaces(gk)}
		needed := sources[gk] || kinds[gk]
		for _, r := range f.rows {
			switch {
			case r.kind != gk && (r.kind != anyKind || !f.wantsOf(gk, r)):
			case r.fields != "":
				lists = append(lists, List{Kind: kind, Fields: r.fields, MetadataOnly: !r.body, rows: []*row{r}})
			default:
				needed, whole.rows = true, append(whole.rows, r)
				whole.MetadataOnly = whole.MetadataOnly && !r.body
			}
		}
		if needed {
			lists = append(lists, whole)
		}
	}
	// What selects Pods must pass before them, and what uses an object should pass before the object: then it need not be kept.
	rank := func(l List) int {
		switch {
		case selective[l.Kind.GroupKind()]:
			return 0
		case l.Kind.GroupKind() == pods:
			return 1
		case l.source:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(lists, func(a, b List) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Kind.Group, b.Kind.Group), cmp.Compare(a.Kind.Kind, b.Kind.Kind))
	})
	return lists
}

// wantsOf reports whether a row for every kind is wanted of this one.
func (f *Finder) wantsOf(kind schema.GroupKind, r *row) bool {
	if f.Wanted != nil {
		return slices.Contains(f.Wanted, Want{kind, r.typ})
	}
	return slices.ContainsFunc(rows, func(other *row) bool { return other.kind == kind })
}

var pods = schema.GroupKind{Kind: "Pod"}

// raw is the object's JSON.
func raw(o object.Object) object.JSON { return object.JSON(o.Raw) }
