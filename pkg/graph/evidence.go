// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import "slices"

// Evidence is one reference to an object that is watched.
type Evidence struct {
	// From holds the reference itself; it may be a Pod of the workload that the Graph counts as the user.
	From Name
	Edge
}

// watch holds what names an object.
type watch struct {
	name  Name
	found []Evidence
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
