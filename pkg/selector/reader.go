// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package selector reads the cluster: it resolves kinds, lists objects page by page, proves that it saw all of them, and
// yields the ones that match as candidates. Whatever it could not read is an error, never an empty answer.
package selector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
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

// scope finds out where a selector looks. A namespace selector that matches no namespace leads nowhere.
func (r *Reader) scope(ctx context.Context, namespace string, selector labels.Selector) (Scope, error) {
	if namespace == "" && selector == nil {
		return Scope{Cluster: true}, nil
	}
	var scope Scope
	if namespace != "" {
		scope.Namespaces = append(scope.Namespaces, namespace)
	}
	if selector == nil {
		return scope, nil
	}
	kind := namespaceKind()
	var found []string
	query := query{kind: kind, path: kind.Path("", ""), labels: selector.String()}
	err := r.list(ctx, query, func() error { found = nil; return nil }, func(raw []byte) error {
		var ns corev1.Namespace
		if err := json.Unmarshal(raw, &ns); err != nil {
			return fmt.Errorf("reading a namespace: %w", err)
		}
		if ns.DeletionTimestamp == nil && ns.Status.Phase != corev1.NamespaceTerminating && ns.Name != namespace {
			found = append(found, ns.Name)
		}
		return nil
	})
	if err != nil {
		return Scope{}, err
	}
	scope.Namespaces = append(scope.Namespaces, found...)
	return scope, nil
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

// fewNamespaces is up to how many namespaces are read one by one rather than in a list of all.
const fewNamespaces = 5

// Namespaces reads the metadata of the namespaces, by name. One that is gone is left out: what was in it is gone too.
func (r *Reader) Namespaces(ctx context.Context, names []string) (map[string]*metav1.ObjectMeta, error) {
	if len(names) > fewNamespaces {
		return r.allNamespaces(ctx)
	}
	found := make(map[string]*metav1.ObjectMeta, len(names))
	for _, name := range names {
		body, err := r.get(ctx, namespaceKind().Path("", name))
		if object.IsAbsent(err, name) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading namespace %s: %w", name, err)
		}
		o, err := object.New(namespaceKind(), body)
		if err != nil {
			return nil, err
		}
		metadata, err := o.Metadata()
		if err != nil {
			return nil, err
		}
		found[name] = &metadata
	}
	return found, nil
}

func (r *Reader) allNamespaces(ctx context.Context) (map[string]*metav1.ObjectMeta, error) {
	var found map[string]*metav1.ObjectMeta
	restart := func() error { found = map[string]*metav1.ObjectMeta{}; return nil }
	err := r.list(ctx, query{kind: namespaceKind(), path: namespaceKind().Path("", "")}, restart, func(raw []byte) error {
		o, err := object.New(namespaceKind(), raw)
		if err != nil {
			return err
		}
		metadata, err := o.Metadata()
		found[o.Name] = &metadata
		return err
	})
	return found, err
}

func namespaceKind() object.Kind {
	return object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Namespace"), Resource: "namespaces"}
}
