// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"maps"
	"slices"

	"github.com/google/cel-go/common/types"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const (
	preserveUnknown = "x-kubernetes-preserve-unknown-fields"
	embedded        = "x-kubernetes-embedded-resource"
)

// schemaTypes gives a schema's objects to cel-go as types. A type is made when it is first asked for, so of a large
// schema only what an expression uses costs anything. It is for one check: it is not safe for concurrent use.
type schemaTypes struct {
	types.Provider
	// objects are the types by name. The name is the path with "{}" behind, which nobody can write in an expression.
	objects map[string]*spec.Schema
	// missed are the fields that there would have been, by the field that was asked for in vain.
	missed map[string][]string
}

func newSchemaTypes() *schemaTypes {
	return &schemaTypes{objects: map[string]*spec.Schema{}, missed: map[string][]string{}}
}

// typeOf is the type of what stands at a path. What could be several things is dyn, which is checked when it is
// evaluated.
func (s *schemaTypes) typeOf(path string, schema *spec.Schema) *types.Type {
	if schema == nil || schema.Nullable {
		return types.DynType
	}
	if isReference(schema) {
		return s.typeOf(path, &schema.AllOf[0])
	}
	if len(schema.Type) != 1 { // such as a quantity, or what is an integer or a string
		return types.DynType
	}
	switch schema.Type[0] {
	case "string":
		return types.StringType // also dates and bytes: that is what the API server sends
	case "boolean":
		return types.BoolType
	case "integer":
		return types.IntType
	case "array":
		if schema.Items == nil {
			return types.NewListType(types.DynType)
		}
		return types.NewListType(s.typeOf(path+"[]", schema.Items.Schema))
	case "object":
		return s.typeOfObject(path, schema)
	}
	return types.DynType // a number may be sent as 1 or as 1.0
}

// isReference reports whether a schema is another one with a description or a default: a reference alone has neither.
func isReference(schema *spec.Schema) bool {
	return len(schema.Type) == 0 && len(schema.AllOf) == 1 && len(schema.Properties) == 0 && !schema.Nullable
}

func (s *schemaTypes) typeOfObject(path string, schema *spec.Schema) *types.Type {
	if isOpen(schema, embedded) {
		schema = withMetadata(schema)
	}
	additional := schema.AdditionalProperties
	switch {
	case len(schema.Properties) > 0:
		name := path + "{}"
		s.objects[name] = schema
		return types.NewObjectType(name)
	case additional != nil && additional.Schema != nil && !isOpen(schema, preserveUnknown):
		return types.NewMapType(types.StringType, s.typeOf(path+".*", additional.Schema))
	}
	return types.DynType
}

func isOpen(schema *spec.Schema, extension string) bool {
	open, _ := schema.Extensions.GetBool(extension)
	return open
}

// hasMore reports whether an object may have fields beside its properties.
func hasMore(schema *spec.Schema) bool {
	return isOpen(schema, preserveUnknown) ||
		(schema.AdditionalProperties != nil && (schema.AdditionalProperties.Allows ||
			schema.AdditionalProperties.Schema != nil))
}

// FindStructType implements types.Provider.
func (s *schemaTypes) FindStructType(name string) (*types.Type, bool) {
	if _, ok := s.objects[name]; ok {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return s.Provider.FindStructType(name)
}

// FindStructFieldNames implements types.Provider.
func (s *schemaTypes) FindStructFieldNames(name string) ([]string, bool) {
	if schema, ok := s.objects[name]; ok {
		return slices.Sorted(maps.Keys(schema.Properties)), true
	}
	return s.Provider.FindStructFieldNames(name)
}

// FindStructFieldType implements types.Provider.
func (s *schemaTypes) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	schema, ok := s.objects[name]
	if !ok {
		return s.Provider.FindStructFieldType(name, field)
	}
	if property, ok := schema.Properties[field]; ok {
		return &types.FieldType{Type: s.typeOf(name[:len(name)-len("{}")]+"."+field, &property)}, true
	}
	if hasMore(schema) {
		return &types.FieldType{Type: types.DynType}, true
	}
	fields := append(slices.Collect(maps.Keys(schema.Properties)), s.missed[field]...)
	slices.Sort(fields)
	s.missed[field] = slices.Compact(fields)
	return nil, false
}

// withMetadata makes sure that a schema knows what every object has.
func withMetadata(schema *spec.Schema) *spec.Schema {
	root := *schema
	root.Type = spec.StringOrArray{"object"}
	root.Properties = maps.Clone(schema.Properties)
	if root.Properties == nil {
		root.Properties = map[string]spec.Schema{}
		root.AdditionalProperties = &spec.SchemaOrBool{Allows: true} // nothing is known, so nothing is wrong
	}
	root.Properties["apiVersion"], root.Properties["kind"] = *spec.StringProperty(), *spec.StringProperty()
	root.Required = append(slices.Clone(schema.Required), "apiVersion", "kind", "metadata")
	if metadata, ok := root.Properties["metadata"]; !ok || len(resolved(&metadata).Properties) == 0 {
		root.Properties["metadata"] = objectMeta()
	}
	return &root
}

// resolved looks through the wrapping of a reference.
func resolved(schema *spec.Schema) *spec.Schema {
	for len(schema.Type) == 0 && len(schema.Properties) == 0 && len(schema.AllOf) == 1 {
		schema = &schema.AllOf[0]
	}
	return schema
}

// objectMeta is metav1.ObjectMeta, for kinds whose schema says no more than that metadata is an object.
func objectMeta() spec.Schema {
	text, number, boolean := *spec.StringProperty(), *spec.Int64Property(), *spec.BooleanProperty()
	texts := *spec.MapProperty(&text)
	owner := objectOf(map[string]spec.Schema{
		"apiVersion": text, "kind": text, "name": text, "uid": text, "controller": boolean, "blockOwnerDeletion": boolean,
	})
	entry := objectOf(map[string]spec.Schema{
		"apiVersion": text, "fieldsType": text, "manager": text, "operation": text, "subresource": text, "time": text,
		"fieldsV1": objectOf(nil),
	})
	metadata := objectOf(map[string]spec.Schema{
		"name": text, "generateName": text, "namespace": text, "uid": text, "resourceVersion": text, "selfLink": text,
		"generation": number, "creationTimestamp": text, "deletionTimestamp": text, "deletionGracePeriodSeconds": number,
		"labels": texts, "annotations": texts, "finalizers": *spec.ArrayProperty(&text),
		"ownerReferences": *spec.ArrayProperty(&owner), "managedFields": *spec.ArrayProperty(&entry),
	})
	metadata.Required = []string{
		"name",
		"namespace",
		"uid",
		"resourceVersion",
		"creationTimestamp",
	} // the namespace, unless the kind has none
	return metadata
}

func objectOf(properties map[string]spec.Schema) spec.Schema {
	return spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: properties}}
}
