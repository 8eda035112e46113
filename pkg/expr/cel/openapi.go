// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Schema reads from the API server's OpenAPI v3 documents what Check needs to know of a kind: types and fields, with all
// references resolved. The client needs no more than absolute paths. Nil without an error means that the cluster publishes
// none for the kind.
func Schema(ctx context.Context, client rest.Interface, gvk schema.GroupVersionKind) (*spec.Schema, error) {
	index, err := document(ctx, client, "/openapi/v3")
	if index == nil || err != nil {
		return nil, err
	}
	path := strings.TrimPrefix(object.GroupVersionPath(gvk.GroupVersion()), "/")
	url := index.At("paths", path, "serverRelativeURL").Text()
	if url == "" {
		return nil, nil
	}
	published, err := document(ctx, client, url)
	if published == nil || err != nil {
		return nil, err
	}
	definitions := definitions{schemas: map[string]object.JSON{}, resolved: map[string]*spec.Schema{}}
	root := ""
	for name, definition := range published.At("components", "schemas").Fields() {
		definitions.schemas[name.String()] = definition
		if isOf(definition, gvk) {
			root = name.String()
		}
	}
	if root == "" {
		return nil, nil
	}
	return definitions.reference(root), nil
}

// document reads one document. Nil when the server has none.
func document(ctx context.Context, client rest.Interface, url string) (object.JSON, error) {
	result := client.Get().RequestURI(url).SetHeader("Accept", "application/json").Do(ctx)
	err := result.Error() // Raw's own says less of what the server said
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the schemas of the cluster (%s): %w", url, err)
	}
	body, err := result.Raw()
	return object.JSON(body), err
}

func isOf(definition object.JSON, gvk schema.GroupVersionKind) bool {
	for is := range definition.Field("x-kubernetes-group-version-kind").Elements() {
		if is.Field("group").Text() == gvk.Group && is.Field("version").Text() == gvk.Version && is.Field("kind").Text() == gvk.Kind {
			return true
		}
	}
	return false
}

// definitions are the schemas of a document, as text. Of a document of more than a megabyte only what a kind refers to is
// decoded, each definition once.
type definitions struct {
	schemas  map[string]object.JSON
	resolved map[string]*spec.Schema
}

// reference is the schema of that name. Within itself it is one that says nothing.
func (d definitions) reference(name string) *spec.Schema {
	if known, ok := d.resolved[name]; ok {
		return known
	}
	d.resolved[name] = &spec.Schema{}
	d.resolved[name] = d.decode(d.schemas[name])
	return d.resolved[name]
}

// decode reads of a schema what typeOf needs.
func (d definitions) decode(text object.JSON) *spec.Schema {
	s := &spec.Schema{}
	for key, value := range text.Fields() {
		switch key.String() {
		case "$ref":
			return d.reference(strings.TrimPrefix(value.Text(), "#/components/schemas/"))
		case "allOf":
			s.AllOf = d.parts(value)
		case "type":
			s.Type = spec.StringOrArray{value.Text()}
		case "nullable":
			s.Nullable = value.String() == "true"
		case "items":
			s.Items = &spec.SchemaOrArray{Schema: d.decode(value)}
		case "properties":
			s.Properties = d.properties(value)
		case "additionalProperties":
			s.AdditionalProperties = &spec.SchemaOrBool{Allows: value.String() != "false"}
			if value.Type() == object.Map {
				s.AdditionalProperties.Schema = d.decode(value)
			}
		case preserveUnknown, embedded:
			s.AddExtension(key.String(), value.String() == "true")
		}
	}
	if len(s.AllOf) == 1 && len(s.Type) == 0 && len(s.Properties) == 0 && !s.Nullable {
		return &s.AllOf[0]
	}
	return s
}

func (d definitions) properties(text object.JSON) map[string]spec.Schema {
	properties := map[string]spec.Schema{}
	for name, property := range text.Fields() {
		properties[name.String()] = *d.decode(property)
	}
	return properties
}

func (d definitions) parts(text object.JSON) []spec.Schema {
	var parts []spec.Schema
	for part := range text.Elements() {
		parts = append(parts, *d.decode(part))
	}
	return parts
}
