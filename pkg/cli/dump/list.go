// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"bytes"
	"cmp"
	"io"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func (k *servedKind) one(namespace, wanted string) (io.Reader, error) {
	for _, m := range k.objects {
		if m.namespace == namespace && m.name == wanted {
			return bytes.NewReader(m.raw), nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: k.Group, Resource: k.Resource}, wanted)
}

// list answers with all objects at once: a page may be larger than was asked for when there is no next one.
func (k *servedKind) list(namespace string, query url.Values) (io.Reader, error) {
	selector, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	fieldSelector, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	readers := []io.Reader{strings.NewReader(`{"metadata":{"resourceVersion":"1"},"items":[`)}
	for _, m := range k.objects {
		if (namespace != "" && m.namespace != namespace) || !selector.Matches(labels.Set(m.labels)) ||
			!fieldSelector.Matches(fieldsOf(m.raw)) {
			continue
		}
		if len(readers) > 1 {
			readers = append(readers, strings.NewReader(","))
		}
		readers = append(readers, bytes.NewReader(m.raw))
	}
	return io.MultiReader(append(readers, strings.NewReader("]}"))...), nil
}

// fieldsOf are the fields of an object as a field selector names them. One that is absent is empty, as on a server,
// which gives every Secret a type.
type fieldsOf object.JSON

// Has implements fields.Fields.
func (f fieldsOf) Has(field string) bool { return f.Get(field) != "" }

// Get implements fields.Fields.
func (f fieldsOf) Get(field string) string {
	value := object.JSON(f).At(strings.Split(field, ".")...)
	switch {
	case value.Type() == object.String:
		return value.Text()
	case field == "type" && object.JSON(f).Field("kind").Text() == "Secret":
		return "Opaque"
	}
	return value.String()
}

// OnlyNamespace is the namespace that all namespaced objects are of, where it is not known what others hold. Empty when
// they are of several or none, or when they are said to be all that there is.
func (d *Cluster) OnlyNamespace() (only string) {
	if !d.Partial {
		return ""
	}
	for _, kinds := range d.served {
		for _, kind := range kinds {
			for _, m := range kind.objects {
				if m.namespace != "" && only != "" && m.namespace != only {
					return ""
				}
				only = cmp.Or(m.namespace, only)
			}
		}
	}
	return only
}

// HasNamespace reports whether any manifest is of the namespace.
func (d *Cluster) HasNamespace(namespace string) bool {
	for _, kinds := range d.served {
		for _, kind := range kinds {
			for _, m := range kind.objects {
				if m.namespace == namespace {
					return true
				}
			}
		}
	}
	return false
}
