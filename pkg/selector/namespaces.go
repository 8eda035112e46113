// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

func namespaceKind() object.Kind {
	return object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Namespace"), Resource: "namespaces"}
}

// scope finds out where a selector looks. A namespace selector that matches no namespace leads nowhere. It selects
// those that are being deleted only with ending, for those who must see what still uses something.
func (r *Reader) scope(ctx context.Context, namespace string, selector labels.Selector, ending bool) (Scope, error) {
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
	found, going, err := r.selected(ctx, selector)
	if err != nil {
		return Scope{}, err
	}
	isNamed := func(name string) bool { return name == namespace }
	scope.Namespaces = append(scope.Namespaces, slices.DeleteFunc(found, isNamed)...)
	if ending {
		scope.ending = slices.DeleteFunc(going, isNamed)
		scope.Namespaces = append(scope.Namespaces, scope.ending...)
	}
	return scope, nil
}

// selected are the namespaces that a selector selects; those that are being deleted are going.
func (r *Reader) selected(ctx context.Context, selector labels.Selector) (found, going []string, err error) {
	kind := namespaceKind()
	query := query{kind: kind, path: kind.Path("", ""), labels: selector.String()}
	err = r.list(ctx, query, func() error { found, going = nil, nil; return nil }, func(raw []byte) error {
		var ns corev1.Namespace
		if err := json.Unmarshal(raw, &ns); err != nil {
			return fmt.Errorf("reading a namespace: %w", err)
		}
		if ns.DeletionTimestamp != nil || ns.Status.Phase == corev1.NamespaceTerminating {
			going = append(going, ns.Name)
		} else {
			found = append(found, ns.Name)
		}
		return nil
	})
	return found, going, err
}

// FewNamespaces is up to how many namespaces are read one by one rather than in a list of all.
const FewNamespaces = 5

// Namespaces reads namespaces by name: of their metadata, the name, the labels and the annotations that protect. One
// that is gone is left out: what was in it is gone too.
func (r *Reader) Namespaces(ctx context.Context, names []string) (map[string]*metav1.ObjectMeta, error) {
	if len(names) > FewNamespaces {
		wanted := make(map[string]bool, len(names))
		for _, name := range names {
			wanted[name] = true
		}
		return r.namespaces(ctx, func(name string) bool { return wanted[name] })
	}
	found := make(map[string]*metav1.ObjectMeta, len(names))
	for _, name := range names {
		body, err := r.get(ctx, namespaceKind().Path("", name))
		if apiserver.IsAbsent(err, name) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading namespace %s: %w", name, err)
		}
		o, err := object.New(namespaceKind(), body)
		if err != nil {
			return nil, err
		}
		if found[name], err = marks(o); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// AllNamespaces is Namespaces for all that there are.
func (r *Reader) AllNamespaces(ctx context.Context) (map[string]*metav1.ObjectMeta, error) {
	return r.namespaces(ctx, func(string) bool { return true })
}

// namespaces reads the list of all namespaces, and keeps those that are wanted.
func (r *Reader) namespaces(ctx context.Context, wanted func(name string) bool) (map[string]*metav1.ObjectMeta, error) {
	var found map[string]*metav1.ObjectMeta
	restart := func() error { found = map[string]*metav1.ObjectMeta{}; return nil }
	query := query{kind: namespaceKind(), path: namespaceKind().Path("", ""), metadataOnly: true}
	err := r.list(ctx, query, restart, func(raw []byte) error {
		o, err := object.New(namespaceKind(), raw)
		if err == nil && wanted(o.Name) {
			found[o.Name], err = marks(o)
		}
		return err
	})
	return found, err
}

// marks is what of a namespace's metadata counts for the objects in it.
func marks(namespace object.Object) (*metav1.ObjectMeta, error) {
	metadata, err := apiserver.Metadata(namespace)
	if err != nil {
		return nil, err
	}
	kept := &metav1.ObjectMeta{Name: metadata.Name, Labels: metadata.Labels}
	if value, ok := metadata.Annotations[v1alpha1.ProtectAnnotation]; ok {
		kept.Annotations = map[string]string{v1alpha1.ProtectAnnotation: value}
	}
	return kept, nil
}
