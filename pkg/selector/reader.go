// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package selector reads the cluster: it resolves kinds, lists objects page by page, proves that it saw all of them, and
// yields the ones that match as candidates. Whatever it could not read is an error, never an empty answer.
package selector

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Reader reads the cluster through one REST client.
type Reader struct {
	client rest.Interface
	clock  clock.PassiveClock
	*known
	// lists, if any, are those that are read together with others who read as the same account.
	lists   *Lists
	account string
	// waits is how long the run waits, among others, for those who may want its next list, in nanoseconds. Not at all when nobody wanted its last one.
	waits *atomic.Int64
	// patient is whether to wait for an API server that is away.
	patient bool
	// onTrouble, if not nil, is told why a request is sent again, and nil when that is over.
	onTrouble func(*TriedError)
}

// known is what was found out about the server.
type known struct {
	mu sync.Mutex
	// largePages is whether the server is one for large pages. Nil when it was not asked yet.
	largePages *bool
	// resolved are the kinds that were found lately.
	resolved map[schema.GroupVersionKind]resolution
}

// NewReader returns a Reader whose client needs no more than absolute paths, such as rest.UnversionedRESTClientFor makes.
func NewReader(client rest.Interface, clk clock.PassiveClock) *Reader {
	return &Reader{client: client, clock: clk, known: &known{resolved: map[schema.GroupVersionKind]resolution{}}}
}

// Scope is where a selector looks: the whole cluster, or these namespaces. No namespaces and not Cluster is nowhere.
type Scope struct {
	Cluster    bool
	Namespaces []string
}

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

// Lists is how many lists it takes to read all of it.
func (s Scope) Lists() int {
	if s.Cluster {
		return 1
	}
	return len(s.Namespaces)
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

// Count returns how many objects of the kind there are in the scope, unfiltered, without reading them.
func (r *Reader) Count(ctx context.Context, kind object.Kind, scope Scope) (int64, error) {
	var total int64
	for _, path := range scope.paths(kind) {
		meta, err := r.page(ctx, query{kind: kind, path: path}, 1, "", func([]byte) error { total++; return nil })
		if err != nil {
			return 0, query{kind: kind, path: path}.describe(err)
		}
		switch {
		case meta.Remaining != nil:
			total += *meta.Remaining
		case meta.Continue != "":
			return 0, query{kind: kind, path: path}.describe(errors.New("the server did not say how many objects there are"))
		}
	}
	return total, nil
}

// get reads one object, or a document of discovery.
func (r *Reader) get(ctx context.Context, path string) ([]byte, error) {
	if err := object.CheckPath(path); err != nil {
		return nil, err
	}
	return r.read(ctx, r.request(path))
}
