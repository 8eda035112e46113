// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Edge is one reference of an object.
type Edge struct {
	To Name
	// Path is where the reference stands, as the table has it.
	Path string
	// Optional is true when what is named need not exist.
	Optional bool
	Strength Strength
}

// step is one step of a path: a field, each element of a list, or each value of a map.
type step struct {
	field string
	each  bool
}

// node is where a path has come to.
type node struct {
	fields map[string]*node
	// each is for the elements of a list, or the values of a map.
	each       *node
	references []reference
}

// reference is a Reference as it is read.
type reference struct {
	Reference
	to                             schema.GroupKind
	kind, group, namespace, option []string
	before, after                  string
}

func (n *node) at(path []step) *node {
	for _, s := range path {
		next := n.each
		if !s.each {
			next = n.fields[s.field]
		}
		if next == nil {
			next = &node{}
			switch {
			case s.each:
				n.each = next
			case n.fields == nil:
				n.fields = map[string]*node{s.field: next}
			default:
				n.fields[s.field] = next
			}
		}
		n = next
	}
	return n
}

// parsePath reads a path as Reference has it.
func parsePath(path string) ([]step, error) {
	var steps []step
	for rest := path; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "[]"):
			steps, rest = append(steps, step{each: true}), rest[2:]
		case rest[0] == '[':
			field, after, found := strings.Cut(rest[1:], "]")
			if !found {
				return nil, fmt.Errorf("there is no ] after %q", rest)
			}
			steps, rest = append(steps, step{field: field}), after
		default:
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				return nil, fmt.Errorf("a field's name is missing before %q", rest)
			}
			steps, rest = append(steps, step{field: rest[:end], each: rest[:end] == "*"}), rest[end:]
		}
		if strings.HasPrefix(rest, ".") {
			if rest = rest[1:]; rest == "" {
				return nil, errors.New("a field's name is missing at the end")
			}
		}
	}
	return steps, nil
}

func compile(r Reference) (reference, []step, error) {
	var errs []error
	fields := func(path string) []string {
		steps, err := parsePath(path)
		errs = append(errs, err)
		names := make([]string, 0, len(steps))
		for _, s := range steps {
			if s.each {
				errs = append(errs, fmt.Errorf("%s must be one field", path))
			}
			names = append(names, s.field)
		}
		return names
	}
	c := reference{
		Reference: r, to: schema.ParseGroupKind(r.To), kind: fields(r.KindField), group: fields(r.GroupField),
		namespace: fields(r.NamespaceField), option: fields(r.OptionalField),
	}
	if c.Strength == "" {
		c.Strength = Names
	}
	if r.To == "" && r.KindField == "" {
		errs = append(errs, errors.New("it says neither to nor kindField: write what kind the field names"))
	}
	if r.Format != "" && r.Format != pairFormat {
		var found bool
		if c.before, c.after, found = strings.Cut(r.Format, "{}"); !found {
			errs = append(errs, fmt.Errorf("format %q has no {}, where the name goes", r.Format))
		}
	}
	path, err := parsePath(r.Path)
	return c, path, errors.Join(append(errs, err)...)
}

// pairFormat is the Format of a text that holds a namespace, if it is not the source's own, and a name.
const pairFormat = "namespace/name"

// Edges tells each all references of an object. It reads the bytes once, and decodes names only.
func (t *Table) Edges(o object.Object, each func(Edge)) {
	s := t.sources[o.Kind.GroupKind()]
	if s == nil {
		return
	}
	w := walker{own: o.Namespace, each: each}
	w.walk(s.root, object.JSON(o.Raw), nil)
}

type walker struct {
	own  string
	each func(Edge)
}

// walk goes down to all names below a value. holder is the map that holds it.
func (w *walker) walk(n *node, value, holder object.JSON) {
	for i := range n.references {
		w.tell(&n.references[i], value, holder)
	}
	switch value.Type() {
	case object.Map:
		if n.fields == nil && n.each == nil {
			return
		}
		for name, field := range value.Fields() {
			if next := n.fields[name.String()]; next != nil {
				w.walk(next, field, value)
			}
			if n.each != nil {
				w.walk(n.each, field, value)
			}
		}
	case object.List:
		if n.each == nil {
			return
		}
		for element := range value.Elements() {
			w.walk(n.each, element, holder)
		}
	}
}

// tell tells the reference that a text is.
func (w *walker) tell(r *reference, value, holder object.JSON) {
	text := value.Text()
	if text == "" {
		return
	}
	edge := Edge{To: Name{GroupKind: r.to, Namespace: w.own, Name: text}, Path: r.Path, Optional: r.Optional, Strength: r.Strength}
	if kind := holder.At(r.kind...).Text(); len(r.kind) > 0 && kind != "" {
		edge.To.GroupKind = schema.GroupKind{Group: groupOf(holder.At(r.group...).Text()), Kind: kind}
		if len(r.group) == 0 {
			edge.To.Group = r.to.Group
		}
	}
	switch namespace := holder.At(r.namespace...).Text(); {
	case r.Namespace == "-":
		edge.To.Namespace = ""
	case len(r.namespace) > 0 && namespace != "":
		edge.To.Namespace = namespace
	case r.Namespace != "":
		edge.To.Namespace = r.Namespace
	}
	if r.Format == pairFormat {
		if namespace, name, found := strings.Cut(text, "/"); found {
			edge.To.Namespace, edge.To.Name = namespace, name
		}
	} else {
		edge.To.Name = r.before + text + r.after
	}
	if len(r.option) > 0 {
		edge.Optional = edge.Optional || holder.At(r.option...).String() == "true"
	}
	if edge.To.Kind != "" {
		w.each(edge)
	}
}

// groupOf is the group of an apiVersion, or the group itself: one with a version has a slash in it, or is v1.
func groupOf(text string) string {
	if text == "v1" {
		return ""
	}
	group, _, _ := strings.Cut(text, "/")
	return group
}
