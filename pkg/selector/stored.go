// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// Whole says why objects of a kind are not seen whole: it is a custom one, stored in another version that has fields
// which the kind's version does not show, and nothing converts between the two. A copy would lack these fields, and a
// change would take them away. Nil means that nothing is left out, but perhaps of the status, which counts only
// withStatus. began is when the run began: see definition.
// (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning)
func (r *Reader) Whole(ctx context.Context, kind object.Kind, withStatus bool, began time.Time) error {
	body, err := r.definition(ctx, kind, began)
	if body == nil || err != nil {
		return err
	}
	defined := body.Field("spec")
	if defined.At("conversion", "strategy").Text() == "Webhook" ||
		defined.Field("preserveUnknownFields").String() == "true" {
		return nil
	}
	var read, stored object.JSON
	for version := range defined.Field("versions").Elements() {
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
		"the API server stores %s objects in version %s of %s. That version has the field %s, and version %s does not; without a conversion webhook, the field cannot be seen there. Set version: %s in the selector",
		kind.Kind,
		version,
		kind.Group,
		path,
		kind.Version,
		version,
	)
}

// settled is how long before a run a definition must have changed last: clocks differ by up to a minute, and an API
// server serves by a change a moment late.
const settled = 2 * time.Minute

// mayBeCustom reports whether a group can be that of a custom resource, which has a dot.
func mayBeCustom(group string) bool { return strings.Contains(group, ".") }

// definition is the CustomResourceDefinition of a kind. Nil when it is not a custom one. It is an error if it changed
// after a run began, or shortly before: the run may have read objects without some fields then.
func (r *Reader) definition(ctx context.Context, kind object.Kind, began time.Time) (object.JSON, error) {
	if !mayBeCustom(kind.Group) {
		return nil, nil
	}
	name := kind.Resource + "." + kind.Group
	body, err := r.get(ctx, definitionKind().Path("", name))
	if apiserver.IsAbsent(err, name) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the CustomResourceDefinition %s: %w", name, err)
	}
	metadata := object.JSON(body).Field("metadata")
	isNew := metadata.Field("generation").String() == "1" // it never had other fields
	if at := object.ChangedAt(metadata); !isNew && at.After(began.Add(-settled)) {
		return nil, fmt.Errorf(
			"the CustomResourceDefinition %s was changed at %s, less than %.0f minutes before the run, or during it, "+
				"so objects may have been read without some of their fields: run the Cleaner again a little later",
			name,
			at.UTC().Format(time.RFC3339),
			settled.Minutes(),
		)
	}
	return body, nil
}

// Defined is what CustomResourceDefinitions say of kinds. The schemas that an API server publishes can be minutes late.
type Defined struct {
	reader *Reader
	began  time.Time
}

// Defined is what they say after a run has read. It is an error if one changed after the run began, or shortly before.
func (r *Reader) Defined(began time.Time) Defined { return Defined{r, began} }

// Schema is the schema of a kind in its definition. Nil when there is none.
func (d Defined) Schema(ctx context.Context, gvk schema.GroupVersionKind) (*spec.Schema, error) {
	if !mayBeCustom(gvk.Group) {
		return nil, nil
	}
	kind, err := d.reader.Resolve(ctx, gvk)
	if err != nil {
		return nil, err
	}
	body, err := d.reader.definition(ctx, kind, d.began)
	if body == nil || err != nil {
		return nil, err
	}
	return cel.Defined(body, gvk.Version), nil
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
