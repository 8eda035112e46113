// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// DeclaredIn is the ConfigMap in the operator's namespace in which users declare references.
const DeclaredIn = finding.DeclaredIn

// DeclaredError is why the references that users declared could not be read.
type DeclaredError struct {
	// Namespace is that of the ConfigMap.
	Namespace string
	Err       error
}

func (e *DeclaredError) Error() string { return fmt.Sprintf("%s cannot be read: %v", e.What(), e.Err) }

func (e *DeclaredError) Unwrap() error { return e.Err }

// What names what could not be read.
func (e *DeclaredError) What() string {
	return "the references declared in ConfigMap " + e.Namespace + "/" + DeclaredIn
}

// UnreadNote is what to say to somebody who may not read the references that users declared in the operator's
// namespace.
func UnreadNote(namespace string) string {
	return "whether ConfigMap " + namespace + "/" + DeclaredIn +
		" declares more references is not known: you may not read it"
}

// Declare adds the references that users declared in the operator's namespace, or that they may not be read.
func (o *Options) Declare(ctx context.Context, reader *selector.Reader, namespace string) error {
	declared, err := Declared(ctx, reader, o.Catalog, namespace)
	if apierrors.IsForbidden(err) {
		o.DeclaredUnread = err
		return nil
	}
	o.Declared = append(o.Declared, declared...)
	return err
}

// Declared reads the references that users declared in the operator's namespace: none where there is no such ConfigMap.
// A ConfigMap that cannot be read is a DeclaredError. A nil catalog asks what the API server serves.
func Declared(
	ctx context.Context, reader *selector.Reader, catalog *selector.Catalog, namespace string,
) ([]graph.Source, error) {
	kind := object.Kind{
		GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		Resource:         "configmaps",
		Namespaced:       true,
	}
	found, err := reader.Object(ctx, kind, namespace, DeclaredIn)
	if apiserver.IsAbsent(err, DeclaredIn) {
		return nil, nil
	}
	if err != nil {
		return nil, &DeclaredError{namespace, err}
	}
	if catalog == nil {
		asked, err := reader.Catalog(ctx)
		if err != nil {
			return nil, &DeclaredError{namespace, err}
		}
		catalog = &asked
	}
	var sources []graph.Source
	var errs []error
	mistaken := Mistaken(catalog)
	data := map[string]string{}
	for key, value := range object.JSON(found.Raw).Field("data").Fields() {
		data[key.String()] = value.Text()
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if !strings.HasSuffix(key, ".yaml") {
			continue
		}
		declared, err := graph.Parse([]byte(data[key]), mistaken)
		if err != nil {
			errs = append(errs, fmt.Errorf("ConfigMap %s/%s: data[%s]: %w", namespace, DeclaredIn, key, err))
		}
		sources = append(sources, declared...)
	}
	return sources, errors.Join(errs...)
}
