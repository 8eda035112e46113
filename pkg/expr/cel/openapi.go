// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"context"
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// maxSchemas is how many schemas are kept. That of a Pod takes half a megabyte.
const maxSchemas = 16

// Schemas keeps the schemas that were read: a document has more than a megabyte, and its URL changes when it does. It
// is safe for concurrent use. Nil keeps nothing.
type Schemas struct {
	mu   sync.Mutex
	kept map[schema.GroupVersionKind]keptSchema
}

type keptSchema struct {
	url    string
	schema *spec.Schema
}

func (s *Schemas) find(gvk schema.GroupVersionKind, url string) *spec.Schema {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.kept[gvk]; known.url == url {
		return known.schema
	}
	return nil
}

// keep keeps a schema. Its URL must have the hash of its document: it is unknown whether another has changed.
func (s *Schemas) keep(gvk schema.GroupVersionKind, url string, found *spec.Schema) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, gvk)
	for other := range s.kept {
		if len(s.kept) < maxSchemas {
			break
		}
		delete(s.kept, other)
	}
	if s.kept == nil {
		s.kept = map[schema.GroupVersionKind]keptSchema{}
	}
	s.kept[gvk] = keptSchema{url, found}
}

// At is what the API server publishes now. The client needs no more than absolute paths.
func (s *Schemas) At(client rest.Interface) *Published {
	return &Published{client: client, schemas: s}
}

// Published is what an API server publishes at one moment: it says only once which documents there are.
type Published struct {
	client  rest.Interface
	schemas *Schemas
	asked   bool
	index   object.JSON
}

// Schema reads from the API server's OpenAPI v3 documents what Check needs to know of a kind: types and fields, with
// all references resolved. Nil without an error means that the cluster publishes none for the kind.
func (p *Published) Schema(ctx context.Context, gvk schema.GroupVersionKind) (*spec.Schema, error) {
	if !p.asked {
		index, err := document(ctx, p.client, "/openapi/v3")
		if err != nil {
			return nil, err
		}
		p.asked, p.index = true, index
	}
	path := strings.TrimPrefix(object.GroupVersionPath(gvk.GroupVersion()), "/")
	url := p.index.At("paths", path, "serverRelativeURL").Text()
	if url == "" {
		return nil, nil
	}
	if known := p.schemas.find(gvk, url); known != nil {
		return known, nil
	}
	at, err := apiserver.SchemaPath(gvk.GroupVersion(), url)
	if err != nil {
		return nil, fmt.Errorf("reading the schemas of the cluster: %w", err)
	}
	published, err := document(ctx, p.client, at)
	if published == nil || err != nil {
		return nil, err
	}
	found := Resolve(published, gvk)
	if found != nil && apiserver.IsHashOf(url, published) {
		p.schemas.keep(gvk, url, found)
	}
	return found, nil
}

// Resolve is the schema of a kind in an OpenAPI v3 document. Nil when it has none.
func Resolve(published object.JSON, gvk schema.GroupVersionKind) *spec.Schema {
	definitions := definitions{schemas: map[string]object.JSON{}, resolved: map[string]*spec.Schema{}}
	root := ""
	for name, definition := range published.At("components", "schemas").Fields() {
		definitions.schemas[name.String()] = definition
		if isOf(definition, gvk) {
			root = name.String()
		}
	}
	if root == "" {
		return nil
	}
	return definitions.reference(root)
}

// Defined is the schema of a version in a CustomResourceDefinition. Nil when it has none.
func Defined(definition object.JSON, version string) *spec.Schema {
	for v := range definition.At("spec", "versions").Elements() {
		if v.Field("name").Text() == version {
			return definitions{}.decode(v.At("schema", "openAPIV3Schema"))
		}
	}
	return nil
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
		if is.Field("group").Text() == gvk.Group && is.Field("version").Text() == gvk.Version &&
			is.Field("kind").Text() == gvk.Kind {
			return true
		}
	}
	return false
}

// definitions are the schemas of a document, as text. Of a document of more than a megabyte only what a kind refers to
// is decoded, each definition once.
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
			s.AdditionalProperties = d.additional(value)
		case preserveUnknown, embedded:
			s.AddExtension(key.String(), value.String() == "true")
		}
	}
	d.presence(s, text)
	if isReference(s) {
		part := s.AllOf[0]
		part.Default = s.Default
		return &part
	}
	return s
}

// presence reads which fields each object has: those that are required, and those with a default. What that is does not
// matter here.
func (d definitions) presence(s *spec.Schema, text object.JSON) {
	for name := range text.Field("required").Elements() {
		s.Required = append(s.Required, name.Text())
	}
	if text.Field("default") != nil {
		s.Default = true
	}
}

func (d definitions) additional(text object.JSON) *spec.SchemaOrBool {
	additional := &spec.SchemaOrBool{Allows: text.String() != "false"}
	if text.Type() == object.Map {
		additional.Schema = d.decode(text)
	}
	return additional
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
