// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import "github.com/kubecleaner/kubecleaner/pkg/object"

// EachTemplate visits the metadata and the spec of a Pod, or of each template of Pods in an object.
func (t *Table) EachTemplate(o *object.Parts, visit func(metadata, spec object.JSON)) {
	if o.Kind.GroupKind() == podKind {
		visit(o.At("metadata"), o.At("spec"))
		return
	}
	s := t.sources[o.Kind.GroupKind()]
	if s == nil {
		return
	}
	for _, path := range s.templates {
		each(o.Raw, path, func(template object.JSON) { visit(template.Field("metadata"), template.Field("spec")) })
	}
	if s.isOpen {
		eachOpenTemplate(o.Raw, 0, visit)
	}
}

// eachOpenTemplate visits the metadata and the spec of what has the shape of a Pod: nobody has described what the value
// holds.
func eachOpenTemplate(value object.JSON, depth int, visit func(metadata, spec object.JSON)) {
	if depth > maxDepth {
		return
	}
	switch value.Type() {
	case object.Map:
		metadata := value.Field("metadata")
		if metadata.Field("labels").Type() == object.Map && value.At("spec", "containers").Type() == object.List {
			visit(metadata, value.Field("spec"))
		}
		for _, field := range value.Fields() {
			eachOpenTemplate(field, depth+1, visit)
		}
	case object.List:
		for element := range value.Elements() {
			eachOpenTemplate(element, depth+1, visit)
		}
	}
}

// each visits all values at a path.
func each(value object.JSON, path []step, visit func(object.JSON)) {
	switch {
	case len(path) == 0:
		if value.Type() != object.Absent {
			visit(value)
		}
	case !path[0].each:
		each(value.Field(path[0].field), path[1:], visit)
	case value.Type() == object.List:
		for element := range value.Elements() {
			each(element, path[1:], visit)
		}
	default:
		for _, field := range value.Fields() {
			each(field, path[1:], visit)
		}
	}
}
