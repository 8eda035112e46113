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
	"io"
	"slices"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// listAttempts is how often a list is begun before it is given up, when the server forgets its place (410 Gone) or its
	// answer breaks off.
	listAttempts = 3
)

var errExpired = errors.New("the server could not go on with the list where it had stopped (410)")

// Reader reads the cluster through one REST client.
type Reader struct {
	client rest.Interface
	clock  clock.PassiveClock

	mu sync.Mutex
	// largePages is whether the server is one for large pages. Nil when it was not asked yet.
	largePages *bool
	// resolved are the kinds that were found lately.
	resolved map[schema.GroupVersionKind]resolution
}

// NewReader returns a Reader whose client needs no more than absolute paths, such as rest.UnversionedRESTClientFor makes.
func NewReader(client rest.Interface, clk clock.PassiveClock) *Reader {
	return &Reader{client: client, clock: clk, resolved: map[schema.GroupVersionKind]resolution{}}
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
	err := r.list(ctx, kind, kind.Path("", ""), selector.String(), func() error { found = nil; return nil }, func(raw []byte) error {
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

// list hands every object of one collection to each, or fails. When the server forgot where the list was, or broke off,
// restart is called and the list begins anew, after a break with smaller pages.
func (r *Reader) list(ctx context.Context, kind object.Kind, path, labelSelector string, restart func() error, each func([]byte) error) error {
	limit := r.pageSize(ctx)
	var err error
	for range listAttempts {
		if err = restart(); err != nil {
			break
		}
		err = r.listOnce(ctx, path, labelSelector, limit, each)
		switch {
		case errors.Is(err, errExpired):
			continue
		case errors.Is(err, io.ErrUnexpectedEOF) && ctx.Err() == nil:
			limit = max(smallPage, limit/4)
			continue
		}
		break
	}
	return describe(err, kind, path)
}

func describe(err error, kind object.Kind, path string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("listing %s (%s): %w", kind.Kind, path, err)
}

func (r *Reader) listOnce(ctx context.Context, path, labelSelector string, limit int, each func([]byte) error) error {
	var first, token string
	for {
		meta, err := r.page(ctx, path, labelSelector, limit, token, each)
		if err != nil {
			return err
		}
		if first == "" {
			first = meta.ResourceVersion
		}
		if meta.ResourceVersion == "" || meta.ResourceVersion != first {
			return fmt.Errorf("the list is not consistent: one page is of resource version %q, another of %q", first, meta.ResourceVersion)
		}
		if meta.Continue == "" {
			return nil
		}
		if meta.Continue == token {
			return errors.New("the list has no end: the server repeats a page")
		}
		token = meta.Continue
	}
}

// page reads one page of a consistent list (no resourceVersion means the most recent one).
func (r *Reader) page(ctx context.Context, path, labelSelector string, limit int, token string, each func([]byte) error) (object.ListMeta, error) {
	request := r.client.Get().AbsPath(path).Param("limit", strconv.Itoa(limit))
	if labelSelector != "" {
		request = request.Param("labelSelector", labelSelector)
	}
	if token != "" {
		request = request.Param("continue", token)
	}
	body, err := request.Stream(ctx)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return object.ListMeta{}, fmt.Errorf("%w: %w", errExpired, err)
	}
	if err != nil {
		return object.ListMeta{}, err
	}
	defer func() { _ = body.Close() }()
	return object.ScanList(body, each)
}

// Count returns how many objects of the kind there are in the scope, unfiltered, without reading them.
func (r *Reader) Count(ctx context.Context, kind object.Kind, scope Scope) (int64, error) {
	var total int64
	for _, path := range scope.paths(kind) {
		meta, err := r.page(ctx, path, "", 1, "", func([]byte) error { total++; return nil })
		if err != nil {
			return 0, describe(err, kind, path)
		}
		switch {
		case meta.Remaining != nil:
			total += *meta.Remaining
		case meta.Continue != "":
			return 0, describe(errors.New("the server did not say how many objects there are"), kind, path)
		}
	}
	return total, nil
}

// get reads one object, or a document of discovery.
func (r *Reader) get(ctx context.Context, path string) ([]byte, error) {
	result := r.client.Get().AbsPath(path).Do(ctx)
	if err := result.Error(); err != nil { // Raw's own says less of what the server said
		return nil, err
	}
	return result.Raw()
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
	err := r.list(ctx, namespaceKind(), namespaceKind().Path("", ""), "", restart, func(raw []byte) error {
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
