// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Absent are the objects that are going to be called absent: something names them, and the list of their kind did not
// have them. The lists are read one after the other, so such an object may have been made after its list was read,
// together with what names it. Whoever asks for it by its name knows. Only the identity of the objects is set.
func (f *Finder) Absent() (absent []object.Object) {
	f.prepare()
	f.absent = map[graph.Name]struct{}{}
	for _, candidates := range f.candidates {
		for _, c := range candidates {
			if !c.isFound {
				f.judge(c)
			}
		}
	}
	for name := range maps.Keys(f.absent) {
		o := object.Object{Kind: f.served[name.GroupKind], Name: name.Name}
		if o.Kind.Namespaced {
			o.Namespace = name.Namespace
		}
		absent = append(absent, o)
	}
	f.absent = nil
	slices.SortFunc(absent, func(a, b object.Object) int { return cmp.Compare(a.Path(), b.Path()) })
	return absent
}

// Present takes note that one of the absent objects is there, or may be.
func (f *Finder) Present(o object.Object) { f.graph.SawName(graph.NameOf(o)) }
