// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"errors"
	"slices"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Scope is where a selector looks: the whole cluster, or these namespaces. No namespaces and not Cluster is nowhere.
type Scope struct {
	Cluster    bool
	Namespaces []string

	// ending are those of Namespaces that are being deleted: what is in them may be looked at, and is not chosen.
	ending []string
}

// isEnding reports whether the object is in a namespace that is being deleted.
func (s Scope) isEnding(o object.Object) bool { return slices.Contains(s.ending, o.Namespace) }

// Contains reports whether an object of the namespace is in the scope.
func (s Scope) Contains(namespace string) bool {
	return s.Cluster || slices.Contains(s.Namespaces, namespace)
}

// Union returns the scope that contains what either contains.
func (s Scope) Union(other Scope) Scope {
	if s.Cluster || other.Cluster {
		return Scope{Cluster: true}
	}
	namespaces := slices.Concat(s.Namespaces, other.Namespaces)
	slices.Sort(namespaces)
	return Scope{Namespaces: slices.Compact(namespaces)}
}

// paths are the collections to list, each once.
func (s Scope) paths(kind object.Kind) []string {
	if s.Cluster {
		return []string{kind.Path("", "")}
	}
	paths := make([]string, 0, len(s.Namespaces))
	for _, namespace := range s.Namespaces {
		paths = append(paths, kind.Path(namespace, ""))
	}
	return paths
}

// perNamespace is how many objects of the kind the cluster may have for each namespace that is selected, so that one
// list of all is cheaper than a list for each, wherever the objects are (docs/explanation/performance-notes.md).
const perNamespace = 50

// collections are what is listed to read the objects in a scope.
type collections struct {
	paths []string
	// within are the namespaces whose objects count. Nil when all do that are listed.
	within map[string]bool
}

// has reports whether an object of the namespace counts.
func (c collections) has(namespace string) bool { return c.within == nil || c.within[namespace] }

// collections decides how a scope is listed: in one list of the whole cluster where that is allowed and cheaper, or
// else namespace by namespace.
func (r *Reader) collections(ctx context.Context, kind object.Kind, scope Scope) collections {
	if scope.Cluster || !r.isCheaperTogether(ctx, kind, len(scope.Namespaces)) {
		return collections{paths: scope.paths(kind)}
	}
	together := collections{paths: []string{kind.Path("", "")}, within: make(map[string]bool, len(scope.Namespaces))}
	for _, namespace := range scope.Namespaces {
		together.within[namespace] = true
	}
	return together
}

// isCheaperTogether asks how many objects of the kind there are in all. Where that is not allowed, or not known, the
// namespaces are listed one by one, which is always right.
func (r *Reader) isCheaperTogether(ctx context.Context, kind object.Kind, selected int) bool {
	if selected < manyNamespaces {
		return false
	}
	objects, err := r.countAt(ctx, kind, kind.Path("", ""))
	return err == nil && objects <= perNamespace*int64(selected)
}

// Count returns how many objects of the kind there are in the scope, unfiltered, reading as few of them as it can.
func (r *Reader) Count(ctx context.Context, kind object.Kind, scope Scope) (total int64, err error) {
	lists := r.collections(ctx, kind, scope)
	if lists.within != nil {
		return r.countWithin(ctx, kind, lists)
	}
	for _, path := range lists.paths {
		n, err := r.countAt(ctx, kind, path)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// countAt asks for one object of a collection: the server says how many more there are.
func (r *Reader) countAt(ctx context.Context, kind object.Kind, path string) (total int64, err error) {
	query := query{kind: kind, path: path}
	meta, err := r.page(ctx, query, 1, "", func([]byte) error { total++; return nil })
	switch {
	case err != nil:
		return 0, query.describe(err)
	case meta.Remaining != nil:
		return total + *meta.Remaining, nil
	case meta.Continue != "":
		return 0, query.describe(errors.New("the server did not say how many objects there are"))
	}
	return total, nil
}

// countWithin reads the metadata of all, and counts those that count.
func (r *Reader) countWithin(ctx context.Context, kind object.Kind, lists collections) (total int64, err error) {
	query := query{kind: kind, path: lists.paths[0], metadataOnly: true}
	err = r.list(ctx, query, func() error { total = 0; return nil }, func(raw []byte) error {
		o, err := object.New(kind, raw)
		if err == nil && lists.has(o.Namespace) {
			total++
		}
		return err
	})
	return total, err
}
