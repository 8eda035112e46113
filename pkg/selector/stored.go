// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// Whole says why objects of a kind are not seen whole: it is a custom one, stored in another version that has fields
// which the kind's version does not show, and nothing converts between the two. A copy would lack these fields, and a
// change would take them away. Nil means that nothing is left out, but perhaps of the status, which counts only
// withStatus.
// (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning)
func (r *Reader) Whole(ctx context.Context, kind object.Kind, withStatus bool) error {
	if !strings.Contains(kind.Group, ".") { // which that of a custom one has
		return nil
	}
	name := kind.Resource + "." + kind.Group
	body, err := r.get(ctx, definitionKind().Path("", name))
	if apiserver.IsAbsent(err, name) {
		return nil // it is not a custom one
	}
	if err != nil {
		return fmt.Errorf("finding out in which version %s is stored: %w", kind.Kind, err)
	}
	spec := object.JSON(body).Field("spec")
	if spec.At("conversion", "strategy").Text() == "Webhook" || spec.Field("preserveUnknownFields").String() == "true" {
		return nil
	}
	var read, stored object.JSON
	for version := range spec.Field("versions").Elements() {
		if version.Field("name").Text() == kind.Version {
			read = version
		}
		if version.Field("storage").String() == "true" {
			stored = version
		}
	}
	ours := []string{"apiVersion", "kind", "metadata"} // which all objects have
	if !withStatus {
		ours = append(ours, "status")
	}
	path := strings.TrimPrefix(
		unseen(stored.At("schema", "openAPIV3Schema"), read.At("schema", "openAPIV3Schema"), "", ours...),
		".",
	)
	if path == "" {
		return nil
	}
	version := stored.Field("name").Text()
	return fmt.Errorf(
		"%s is stored as %s of %s, which has %s; %s does not show it, and nothing converts between them: write version: %s into the selector",
		kind.Kind,
		version,
		kind.Group,
		path,
		kind.Version,
		version,
	)
}

func definitionKind() object.Kind {
	gvk := schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	return object.Kind{GroupVersionKind: gvk, Resource: "customresourcedefinitions"}
}

const preserved = "x-kubernetes-preserve-unknown-fields"

// unseen is the path of a field that a schema has and another one leaves out, but those at the root that are given.
// Empty when there is none.
func unseen(schema, by object.JSON, at string, but ...string) string {
	if by.Field(preserved).String() == "true" {
		return ""
	}
	if schema.Field(preserved).String() == "true" {
		return at + ".*"
	}
	for name, field := range schema.Field("properties").Fields() {
		if slices.Contains(but, name.String()) {
			continue
		}
		path := at + "." + name.String()
		other := by.At("properties", name.String())
		if other.Type() == object.Absent {
			other = by.Field("additionalProperties")
		}
		if path := unseenField(field, other, path); path != "" {
			return path
		}
	}
	for _, inner := range []string{"items", "additionalProperties"} {
		field := schema.Field(inner)
		if field.Type() != object.Map {
			continue
		}
		if path := unseenField(field, by.Field(inner), at+".*"); path != "" {
			return path
		}
	}
	return ""
}

// unseenField is unseen for a field, of which the other schema may say nothing, or true: that it shows everything.
func unseenField(schema, by object.JSON, at string) string {
	switch {
	case by.String() == "true":
		return ""
	case by.Type() != object.Map:
		return at
	}
	return unseen(schema, by, at)
}
