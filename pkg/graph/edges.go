// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bytes"
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Edge is one reference of an object.
type Edge struct {
	// To is what is named. In its namespace and its name, "*" stands for any text, and "#" at the end of the name for a
	// number: what a StatefulSet names is "data-web-#".
	To Name
	// Path is where the reference stands, as the table has it.
	Path string
	// Optional is true when what is named need not exist.
	Optional bool
	Strength Strength
}

// maxName is how long a text may be that holds a name: a namespace, a slash and a name.
const maxName = 63 + 1 + 253

// Edges passes to each all references of an object. It reads the bytes once, and decodes names only.
func (t *Table) Edges(o object.Object, each func(Edge)) {
	t.read(o, each, nil)
}

// read is Edges, and passes to text what Pods are given as text, and what could be a name in a custom resource. At is
// where the text stands in the object, which may have variables in it.
func (t *Table) read(o object.Object, each func(Edge), text func(at, text object.JSON)) {
	s := t.sources[o.Kind.GroupKind()]
	if s == nil {
		return
	}
	w := walker{object: o.Raw, own: o.Namespace, each: each, text: text, inventory: s.inventory}
	if w.own == "" {
		w.own = "*" // what is cluster-scoped, and does not say which namespace it means, may mean any
	}
	w.walk(s.root, w.object, nil)
	if add := irregular[o.Kind.GroupKind()].add; add != nil {
		add(&w)
	}
	if s.isCustom && text != nil {
		eachWord(o.Raw, s.inventory, text)
	}
}

type walker struct {
	object object.JSON
	own    string
	each   func(Edge)
	text   func(at, text object.JSON)
	// inventory is true for an object whose status is not looked through.
	inventory bool
	// container is the one of whose texts the next are.
	container object.JSON
	// environment is that of the container, once a text has asked for it.
	environment *environment
	// path is where guessing has come to, from where it began.
	from string
	path []object.Key
}

// walk goes down to all names in the value that the text begins with, and returns how much of the text it has read.
// holder begins with the map that holds the value.
func (w *walker) walk(n *node, value, holder object.JSON) (read int) {
	w.addHere(n, value, holder)
	if n.fields == nil && n.each == nil {
		return 0
	}
	switch value.Type() {
	case object.Map:
		var seen uint64
		read = value.WalkFields(func(name object.Key, field object.JSON) (read int) {
			if next := n.child(name); next != nil {
				seen |= next.bit
				read = w.walk(next, field, value)
			}
			if n.each != nil && !isRepeated(name) {
				read = max(read, w.walk(n.each, field, value))
			}
			return read
		})
		w.walkAbsent(n, seen, value)
	case object.List:
		if n.each != nil {
			read = value.WalkElements(func(element object.JSON) int { return w.walk(n.each, element, holder) })
		}
	}
	return read
}

// addHere adds what the value itself names.
func (w *walker) addHere(n *node, value, holder object.JSON) {
	for i := range n.references {
		w.add(&n.references[i], value, holder)
	}
	if n.guess != "" {
		w.from = n.guess
		w.guess(value)
	}
	if n.isContainer {
		w.container, w.environment = value, nil
	}
	if w.text == nil {
		return
	}
	if n.isText {
		w.text(value, value)
	}
	if n.expands {
		w.addExpanded(value)
	}
}

// walkAbsent adds what is meant by fields that a map does not have.
func (w *walker) walkAbsent(n *node, seen uint64, holder object.JSON) {
	for _, next := range n.defaults {
		for i := range next.references {
			if r := &next.references[i]; seen&next.bit == 0 && r.Absent != "" {
				w.add(r, nil, holder)
			}
		}
	}
}

// child is the node of a field. It makes no string of the field's name.
func (n *node) child(name object.Key) *node {
	if len(name) >= 2 && bytes.IndexByte(name, '\\') < 0 {
		return n.fields[string(name[1:len(name)-1])]
	}
	return n.fields[name.String()]
}

// add adds the reference that a value is.
func (w *walker) add(r *reference, value, holder object.JSON) {
	if !isWhere(r, holder) {
		return
	}
	text := cmp.Or(value.Text(), r.Absent)
	if text == "" || len(text) > maxName {
		return
	}
	named := w.nameOf(r, text, holder)
	edge := Edge{To: named, Path: r.Path, Optional: r.Optional, Strength: r.Strength}
	edge.To.Namespace, edge.To.Name = withoutVariables(named.Namespace), withoutVariables(named.Name)
	if edge.To != named {
		edge.Strength = Reads
	}
	if r.format != nil {
		edge.To.Name = w.formatted(r.format, edge.To.Name)
	}
	if len(r.option) > 0 {
		edge.Optional = edge.Optional || holder.At(r.option...).String() == "true"
	}
	if edge.To.Kind != "" && edge.To.Name != "" {
		w.each(edge)
	}
}

// nameOf is what the text of a reference names, as it is written.
func (w *walker) nameOf(r *reference, text string, holder object.JSON) Name {
	name := Name{GroupKind: r.kindOf(holder), Namespace: w.namespaceOf(r, holder), Name: text}
	if r.Format == pairFormat || r.Strength == Learned { // no name has a slash in it
		if namespace, after, found := strings.Cut(text, "/"); found {
			name.Namespace, name.Name = namespace, after
		}
	}
	if r.Format == hostFormat {
		name.Namespace, name.Name = serviceIn(text)
	}
	return name
}

// isWhere reports whether the reference counts, by a field beside the name.
func isWhere(r *reference, holder object.JSON) bool {
	if len(r.where) == 0 {
		return true
	}
	value := holder.At(r.where...)
	if r.whereValue != "" {
		return value.Text() == r.whereValue
	}
	return value.Type() != object.Absent && value.Type() != object.Null
}

// kindOf is the kind that the reference names.
func (r *reference) kindOf(holder object.JSON) schema.GroupKind {
	if len(r.kind) == 0 {
		return r.to
	}
	kind, group := holder.At(r.kind...).Text(), holder.At(r.group...).Text()
	switch {
	case kind == "":
		return r.to
	case len(r.group) == 0, group == "" && kind == r.to.Kind:
		return kindIn(r.to.Group, kind)
	}
	return kindIn(groupOf(group), kind)
}

// namespaceOf is the namespace of what the reference names.
func (w *walker) namespaceOf(r *reference, holder object.JSON) string {
	if r.Namespace == "-" {
		return ""
	}
	if len(r.namespace) > 0 {
		if namespace := holder.At(r.namespace...).Text(); namespace != "" {
			return namespace
		}
	}
	if len(r.namespaceFrom) > 0 {
		if namespace := w.object.At(r.namespaceFrom...).Text(); namespace != "" {
			return namespace
		}
	}
	if r.Namespace != "" {
		return r.Namespace
	}
	return w.own
}

func (w *walker) formatted(format []part, name string) string {
	var text strings.Builder
	for _, p := range format {
		switch {
		case p.isName:
			text.WriteString(name)
		case p.from == nil:
			text.WriteString(p.text)
		default:
			value := w.object.At(p.from...).Text()
			if value == "" {
				return ""
			}
			text.WriteString(value)
		}
	}
	return text.String()
}

// groupOf is the group of an apiVersion, or the group itself: one with a version has a slash in it, or is v1.
func groupOf(text string) string {
	if text == "v1" {
		return ""
	}
	group, _, _ := strings.Cut(text, "/")
	return group
}
