// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
)

// Unread takes note that a list could not be read to its end, for want of a right. Any other failure must end the
// search, except of those of Details.
func (f *Finder) Unread(list List, err error) {
	if list.extra {
		f.undetailed[list.Kind.GroupKind()] = true
		return
	}
	f.unread[list.Kind.GroupKind()] = err
}

// isAbsent reports whether it is proved that an object does not exist: all objects of its kind passed, or nobody serves
// the kind. What Kubernetes makes in each cluster is never absent: manifests rarely hold it.
func (f *Finder) isAbsent(name graph.Name) bool {
	if isInEachCluster(name) || len(f.whyUnsure(name)) > 0 {
		return false
	}
	if _, served := f.served[name.GroupKind]; !served {
		return true
	}
	return f.whole[name.GroupKind] && !f.graph.IsPresent(name)
}

// whyUnsure says why it is not known whether an object exists.
func (f *Finder) whyUnsure(name graph.Name) []Unread {
	unread := f.unreadOf(name.GroupKind)
	if err := f.elsewhere[name.GroupKind]; len(unread) == 0 && err != nil &&
		name.Namespace != cmp.Or(f.OnlyOf, f.Namespace) {
		unread = append(unread, Unread{Kind: name.GroupKind, Err: err, Elsewhere: true})
	}
	return unread
}

// unreadOf are those of the kinds that could not be read, each once.
func (f *Finder) unreadOf(kinds ...schema.GroupKind) (unread []Unread) {
	for _, kind := range kinds {
		err := f.unread[kind]
		if _, served := f.served[kind]; err == nil && !served {
			err = f.unserved(kind.Group)
		}
		if err != nil && !slices.ContainsFunc(unread, func(other Unread) bool { return other.Kind == kind }) {
			unread = append(unread, Unread{Kind: kind, Err: err})
		}
	}
	return unread
}

// unreadAnywhere are those of the kinds of which not all objects of all namespaces could be read, each once.
func (f *Finder) unreadAnywhere(kinds ...schema.GroupKind) []Unread {
	unread := f.unreadOf(kinds...)
	for _, kind := range kinds {
		isKnown := func(other Unread) bool { return other.Kind == kind }
		if err := f.elsewhere[kind]; err != nil && !slices.ContainsFunc(unread, isKnown) {
			unread = append(unread, Unread{Kind: kind, Err: err, Elsewhere: true})
		}
	}
	return unread
}

// unreadUsers are the sources that could not be read and might name an object of a kind. One that could be read in the
// one namespace counts, if its objects can name some of other namespaces.
func (f *Finder) unreadUsers(sources []schema.GroupKind, of schema.GroupKind) []Unread {
	kind, served := f.served[of]
	inAnyNamespace := served && !kind.Namespaced // what is cluster-scoped may be used in any
	return slices.DeleteFunc(f.unreadAnywhere(sources...), func(u Unread) bool {
		return u.Elsewhere && !inAnyNamespace && !f.Table.NamesElsewhere(u.Kind, of)
	})
}

// Sources are the kinds that can show that an object of the kind is used: those that were searched, and those that
// could not be.
func (f *Finder) Sources(kind schema.GroupKind) (searched []schema.GroupKind, unread []Unread) {
	sources := f.Table.NamedBy(kind)
	if i := slices.IndexFunc(rows, func(r *row) bool { return r.kind == kind && r.named }); i >= 0 {
		sources = f.sourcesOf(rows[i])
	}
	unread = f.unreadUsers(sources, kind)
	for _, source := range sources {
		_, served := f.served[source]
		if served && !slices.ContainsFunc(unread, func(u Unread) bool { return u.Kind == source }) {
			searched = append(searched, source)
		}
	}
	return searched, unread
}

// unserved says why the kinds of a group are not known. Metrics name nothing, and often nobody serves them.
func (f *Finder) unserved(group string) error {
	if strings.HasSuffix(group, "metrics.k8s.io") {
		return nil
	}
	return f.Unserved[group]
}

// searched is how many of the kinds the cluster has, as far as that is known: those that it serves, and those that
// could not be read because nobody knows what their group serves.
func (f *Finder) searched(kinds []schema.GroupKind, unread []Unread) (n int) {
	for _, kind := range kinds {
		_, served := f.served[kind]
		if served || slices.ContainsFunc(unread, func(u Unread) bool { return u.Kind == kind }) {
			n++
		}
	}
	return n
}

// inVainOf says that something was not found in those of the kinds that could be read; which says what kinds they are.
// A group of which nobody knows the kinds has at least one.
func inVainOf(what string, searched int, unread []Unread, which string) string {
	least := ""
	if slices.ContainsFunc(unread, func(u Unread) bool { return u.Kind.Kind == "*" }) {
		least = "at least "
	}
	part, everywhere := 0, "" // part is how many were read in the one namespace
	for _, u := range unread {
		if u.Elsewhere {
			part, everywhere = part+1, " in other namespaces"
		}
	}
	switch read := searched - len(unread); {
	case read > 0 && part > 0:
		return fmt.Sprintf("%s in %d of %s%d kinds that %s, nor in %d more, read in one namespace only", what, read, least, searched, which, part)
	case read > 0:
		return fmt.Sprintf("%s in %d of %s%d kinds that %s", what, read, least, searched, which)
	case searched == 1:
		return fmt.Sprintf("%s: the only kind that %s could not be read%s", what, which, everywhere)
	case part > 0:
		return fmt.Sprintf("%s: %d of %s%d kinds that %s could be read, in one namespace only", what, part, least, searched, which)
	}
	return fmt.Sprintf("%s: none of %s%d kinds that %s could be read", what, least, searched, which)
}
