// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Evidence is one reference to an object that is watched.
type Evidence struct {
	// From holds the reference itself; it may be a Pod of the workload that the Graph counts as the user.
	From Name
	Edge
}

// Text is a text in which the name of an object stands.
type Text struct {
	// In holds the text, at the path.
	In   Name
	Path string
}

// watch holds what names an object, and the texts in which its name stands.
type watch struct {
	name  Name
	found []Evidence
	texts []Text
}

// Watch keeps all references to an object, as evidence. It must be called before objects pass.
func (g *Graph) Watch(name Name) {
	name = g.normal(name)
	g.watched[name.key()] = &watch{name: name}
}

// Evidence are the references to an object that is watched.
func (g *Graph) Evidence(name Name) []Evidence {
	w := g.watched[g.normal(name).key()]
	if w == nil {
		return nil
	}
	return slices.Concat(w.found, g.aggregations.evidence(w.name))
}

// Texts are the texts in which the name of an object that is watched stands.
func (g *Graph) Texts(name Name) []Text {
	if w := g.watched[g.normal(name).key()]; w != nil {
		return w.texts
	}
	return nil
}

// witnessText keeps where the names of objects that are watched stand in a text of an object. by is the
// object, or its controller: it does not witness itself. At is where the text stands.
func (g *Graph) witnessText(o *object.Parts, others []string, by Name, at, text object.JSON) {
	if len(g.watched) == 0 {
		return
	}
	eachNameIn(o, others, text, func(namespace string, word []byte) {
		for _, w := range g.watched {
			isThere := namespace == w.name.Namespace || namespace == "" || w.name.Namespace == ""
			if !isThere || !like(patternOf(word), w.name.Name) || by == w.name {
				continue
			}
			path, _ := pathTo(at, object.JSON(o.Raw), "")
			found := Text{In: clonedName(NameOf(o.Object)), Path: path}
			if !slices.Contains(w.texts, found) {
				w.texts = append(w.texts, found)
			}
		}
	})
}

// pathTo is the path, as the table writes it, of a text within a value. Both begin in the same bytes.
func pathTo(text, value object.JSON, path string) (string, bool) {
	if len(value) > 0 && &value[0] == &text[0] {
		return path, true
	}
	switch value.Type() {
	case object.Map:
		for key, field := range value.Fields() {
			if found, is := pathTo(text, field, joinBelow(path, key.String())); is {
				return found, true
			}
		}
	case object.List:
		for element := range value.Elements() {
			if found, is := pathTo(text, element, joinElement(path)); is {
				return found, true
			}
		}
	}
	return "", false
}

// witness keeps a reference to an object that is watched.
func (g *Graph) witness(from Name, edge Edge) {
	if len(g.watched) == 0 {
		return
	}
	if !edge.To.isPattern() {
		if w := g.watched[edge.To.key()]; w != nil {
			w.found = append(w.found, Evidence{From: clonedName(from), Edge: cloned(edge)})
		}
		return
	}
	for _, w := range g.watched {
		if edge.To.matches(w.name) {
			w.found = append(w.found, Evidence{From: clonedName(from), Edge: cloned(edge)})
		}
	}
}
