// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// search is where the users of a row's objects were looked for, when all lists were read. It is the same for all of
// them.
type search struct {
	// kinds is how many of the kinds that can name them the cluster serves.
	kinds int
	// unread are those that could not be read.
	unread []Unread
	// unreadTexts are those that may hold the names in a text, and could not be read.
	unreadTexts []Unread
	// decides says that a text may decide what the row finds. Otherwise the row has other evidence, such as that a role
	// does not exist, and a text makes that no more than Weak.
	decides bool
	// inVain says that no user was found in any.
	inVain string
}

// sourcesOf are the kinds that can show that an object of a row is used, each once.
func (f *Finder) sourcesOf(r *row) []schema.GroupKind {
	var selected []schema.GroupKind
	if r.pods {
		selected = f.Table.PodKinds()
	}
	return uniqueKinds(f.Table.NamedBy(r.kind), selected, r.reads)
}

func uniqueKinds(lists ...[]schema.GroupKind) []schema.GroupKind {
	var all []schema.GroupKind
	for _, kind := range slices.Concat(lists...) {
		if !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	return all
}

// searchFor is the search for users of a row's objects.
func (f *Finder) searchFor(r *row) *search {
	if s := f.searches[r]; s != nil {
		return s
	}
	kinds := f.sourcesOf(r)
	s := &search{unread: f.unreadUsers(kinds, r.kind)}
	s.unreadTexts, s.decides = f.unreadTextsFor(r), r.decidedByTexts()
	f.searches[r] = s
	var last schema.GroupKind
	for _, kind := range kinds {
		if _, served := f.served[kind]; served {
			s.kinds, last = s.kinds+1, kind
		}
	}
	s.inVain = fmt.Sprintf("none of %d kinds names it", s.kinds)
	if s.kinds == 1 {
		s.inVain = fmt.Sprintf("no %s names it", last.Kind)
	}
	return s
}

// unreadTextsFor are the kinds in whose texts the names of a row's objects may stand, and that could not be read.
func (f *Finder) unreadTextsFor(r *row) []Unread {
	annotated := r.annotated()
	kinds := uniqueKinds(f.textsFor(r), annotated)
	namesNone := func(u Unread) bool { return f.isElsewhere(u) && !slices.Contains(annotated, u.Kind) }
	var inData []Unread
	if r.mayStandInTexts() { // a ConfigMap may name an object of another namespace
		inData = f.unreadAnywhere(configMaps)
	}
	switch {
	case r.kind == volumes, r.kind == namespaces, r.named && !f.served[r.kind].Namespaced:
		return uniqueUnread(f.unreadAnywhere(kinds...), inData)
	case r.named:
		users := slices.DeleteFunc(f.unreadUsers(kinds, r.kind), namesNone)
		return uniqueUnread(users, f.unreadAnywhere(annotated...), inData)
	case r.typ == v1alpha1.FindingIdle, r.kind == replicaSets:
		return slices.DeleteFunc(f.unreadOf(kinds...), namesNone)
	case !r.heedsTexts():
		return nil
	}
	return f.unreadOf(f.Table.CustomKinds()...)
}

// decidedByTexts reports whether a text may decide what a row finds. A custom resource may need an Ingress or an
// autoscaler although what it leads to does not exist: an Issuer adds backends, and a Canary brings the workload back.
func (r *row) decidedByTexts() bool {
	kinds := []schema.GroupKind{volumes, namespaces, replicaSets, ingresses, autoscalers}
	return r.named || r.typ == v1alpha1.FindingIdle || slices.Contains(kinds, r.kind)
}

func uniqueUnread(lists ...[]Unread) (all []Unread) {
	for _, unread := range slices.Concat(lists...) {
		if !slices.ContainsFunc(all, func(other Unread) bool { return other.Kind == unread.Kind }) {
			all = append(all, unread)
		}
	}
	return all
}

// DeclaredIn is the group of a kind that stands for the references that users declare, where these could not be read.
const DeclaredIn = "kubecleaner-references"

// isElsewhere reports whether what could not be read certainly has nothing to do with objects of a namespace that users
// keep things in: volumes, and other kinds of Kubernetes itself that are cluster-scoped. Custom resources may.
func (f *Finder) isElsewhere(unread Unread) bool {
	kind, served := f.served[unread.Kind]
	isOfCluster := served && !kind.Namespaced && !slices.Contains(f.Table.CustomKinds(), unread.Kind)
	return isOfCluster || unread.Kind.Group == DeclaredIn
}
