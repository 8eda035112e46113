// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// Options say what to look for.
type Options struct {
	// Wanted are the findings to look for. Nil looks for all.
	Wanted []finding.Want
	// WithUsers also judges whatever may be unused or idle, of which the wanted objects may be Cascading.
	WithUsers bool
	// Now is what ages are measured from.
	Now time.Time
	// Declared are references that users declared, in addition to those that are known and learned.
	Declared []graph.Source
	// DeclaredUnread is why nobody may read what users declared: it may name anything. Nil where it was read. It does not
	// matter where KubeCleaner is not installed.
	DeclaredUnread error
	// Schemas keeps what was learned from the cluster's schemas. Nil learns it anew.
	Schemas *Schemas
	// Catalog is what the API server serves. Nil asks it.
	Catalog *selector.Catalog
	// Namespace is the one that is read. Empty for the whole cluster. Without all of it, nothing can be said of objects
	// that are cluster-scoped.
	Namespace string
	// OnlyOf is the one namespace of which there are objects, where what other namespaces hold is not known.
	OnlyOf string
	// Include says which objects may be reported. The others are judged, and count as users, all the same. Nil for all.
	Include func(object.Object) bool
	// Watched are objects of which all references are kept, as evidence.
	Watched []graph.Name
	// EachDialect also finds objects whose time is over by the marks of one dialect only.
	EachDialect bool
}

// New returns a Finder that knows what the API server serves, and which fields of it name what: those that are known,
// that were learned from the schemas of custom resources, and that users declared.
func New(ctx context.Context, reader *selector.Reader, options Options) (*finding.Finder, error) {
	catalog := options.Catalog
	if catalog == nil {
		asked, err := reader.Catalog(ctx)
		if err != nil {
			return nil, err
		}
		catalog = &asked
	}
	sources, err := graph.BuiltInSources()
	if err != nil {
		return nil, err
	}
	schemas := options.Schemas
	if schemas == nil {
		schemas = &Schemas{}
	}
	learned, unlearned, err := schemas.learn(ctx, reader, catalog)
	if err != nil {
		return nil, err
	}
	unserved := map[string]error{}
	maps.Copy(unserved, catalog.Unserved)
	maps.Copy(unserved, unlearned)
	sources = graph.Among(sources, func(kind schema.GroupKind) bool { return mayServe(catalog, unserved, kind) })
	sources = append(append(append(sources, learned...), options.Declared...), unknown(unserved)...)
	undeclared := options.DeclaredUnread
	if !MayDeclare(catalog) {
		undeclared = nil
	}
	if undeclared != nil {
		sources = append(sources, unknown(map[string]error{DeclaredIn: undeclared})...)
	}
	table, err := graph.NewTable(sources)
	if err != nil {
		return nil, err
	}
	finder := finding.New(finding.Options{
		Table: table, Served: catalog.Kinds, Unserved: unserved, Wanted: options.Wanted, WithUsers: options.WithUsers,
		Now: options.Now, Namespace: options.Namespace, OnlyOf: options.OnlyOf, Include: options.Include,
		Watched:     options.Watched,
		EachDialect: options.EachDialect,
	})
	if undeclared != nil {
		finder.Unread(declarations, undeclared)
	}
	return finder, nil
}

// cleaners is the kind that is served where KubeCleaner is installed, and declarations stand for what cannot be read of
// kinds of which only declared references say what they name.
var (
	cleaners     = schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: "Cleaner"}
	declarations = finding.List{Kind: object.Kind{
		GroupVersionKind: schema.GroupVersionKind{Group: DeclaredIn, Kind: "*"},
	}}
)

// MayDeclare reports whether KubeCleaner may be installed in the cluster: elsewhere no references are declared.
func MayDeclare(catalog *selector.Catalog) bool { return mayServe(catalog, catalog.Unserved, cleaners) }

// mayServe reports whether the cluster has the kind, as far as that is known.
func mayServe(catalog *selector.Catalog, unserved map[string]error, kind schema.GroupKind) bool {
	return unserved[kind.Group] != nil ||
		slices.ContainsFunc(catalog.Kinds, func(k object.Kind) bool { return k.GroupKind() == kind })
}

// unknown are sources for groups of which nobody can say what their objects name: it may be anything. They may hold
// templates of Pods, too, which a selector matches.
func unknown(groups map[string]error) []graph.Source {
	var sources []graph.Source
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		if !strings.HasSuffix(group, "metrics.k8s.io") { // they measure, and name nothing that they use
			anything := []graph.Reference{{Path: "anything", KindField: "kind"}}
			sources = append(sources, graph.Source{Kind: "*." + group, PodTemplates: []string{"anything"}, References: anything})
		}
	}
	return sources
}
