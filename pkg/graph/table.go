// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Table says what can name what.
type Table struct {
	sources map[schema.GroupKind]*source
	// kinds are the kinds of the sources, and podKinds those that hold Pods, in the order of their names: a plan asks
	// for them many times.
	kinds, podKinds []schema.GroupKind
	// namedBy are the kinds whose objects can name one of the kind, in the order of their names. anyKind has those that
	// can name one of any kind.
	namedBy map[schema.GroupKind][]schema.GroupKind
}

// source is a Source as it is read: the fields as a tree.
type source struct {
	root *node
	// templates are the paths of PodTemplates. isOpen is true when there may be others, in values that nobody has
	// described.
	templates [][]step
	isOpen    bool
	// body is true when a reference is outside of the metadata.
	body bool
	// isCustom is true for custom resources: any string of them may be a name. hasText is true for what gives Pods texts.
	isCustom, hasText bool
	// inventory is true for those whose status names what they do not use.
	inventory bool
	// isDescribed is true when somebody described what it names, and not only its schema.
	isDescribed bool
	// elsewhere are the kinds of which it may name objects of other namespaces.
	elsewhere map[schema.GroupKind]bool
}

// The kinds under which the table says what the spec of a Pod and of a claim names, wherever it is.
const (
	podSpec   = "PodSpec"
	claimSpec = "PersistentVolumeClaimSpec"
)

// NewTable makes a table. Of several Sources of a kind all references count. The error names all that is wrong.
func NewTable(sources []Source) (*Table, error) {
	t := &Table{sources: map[schema.GroupKind]*source{}, namedBy: map[schema.GroupKind][]schema.GroupKind{}}
	parts := map[string][]Reference{}
	for _, part := range []string{claimSpec, podSpec} { // the spec of a Pod may hold that of a claim
		for _, s := range sources {
			if s.Kind == part {
				parts[part] = append(parts[part], expand(s, parts)...)
			}
		}
	}
	var errs []error
	for _, s := range sources {
		if s.Kind == podSpec || s.Kind == claimSpec {
			continue
		}
		if err := t.add(s, parts); err != nil {
			errs = append(errs, err)
		}
	}
	t.sortNamedBy()
	t.kinds = slices.SortedFunc(maps.Keys(t.sources), byName)
	t.podKinds = slices.DeleteFunc(slices.Clone(t.kinds), func(kind schema.GroupKind) bool {
		s := t.sources[kind]
		return kind != podKind && len(s.templates) == 0 && !s.isOpen
	})
	return t, errors.Join(errs...)
}

// Among are the sources of the kinds that there are, and what these embed. The others would only take memory.
func Among(sources []Source, isThere func(schema.GroupKind) bool) []Source {
	return slices.DeleteFunc(slices.Clone(sources), func(s Source) bool {
		return s.Kind != podSpec && s.Kind != claimSpec && !isThere(schema.ParseGroupKind(s.Kind))
	})
}

// sortNamedBy puts what can name an object of any kind among what can name one of each, in the order of their names.
func (t *Table) sortNamedBy() {
	ofAny := t.namedBy[anyKind]
	for kind, of := range t.namedBy {
		if kind != anyKind {
			of = slices.Concat(of, ofAny)
		}
		slices.SortFunc(of, byName)
		t.namedBy[kind] = slices.Clip(slices.Compact(of))
	}
}

func byName(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) }

// expand are all references of a Source, those of what it embeds among them.
func expand(s Source, parts map[string][]Reference) []Reference {
	found := slices.Clone(s.References)
	embed := func(paths []string, field, part string) {
		for _, path := range paths {
			for _, r := range parts[part] {
				r.Path = join(join(path, field), r.Path)
				found = append(found, r)
			}
		}
	}
	embed(s.PodTemplates, "spec", podSpec)
	embed(s.PodSpecs, "", podSpec)
	embed(s.ClaimSpecs, "", claimSpec)
	if s.Strength != "" {
		for i := range found {
			if i >= len(s.References) || found[i].Strength == "" {
				found[i].Strength = s.Strength
			}
		}
	}
	return found
}

func (t *Table) add(s Source, parts map[string][]Reference) error {
	kind := schema.ParseGroupKind(s.Kind)
	of := t.source(kind)
	of.isDescribed = of.isDescribed || s.Strength != Learned
	var errs []error
	fail := func(what string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("references of %s: %s: %w", s.Kind, what, err))
		}
	}
	for _, r := range expand(s, parts) {
		compiled, path, err := compile(r)
		if err != nil {
			fail(fmt.Sprintf("path %q", r.Path), err)
			continue
		}
		of.root.add(path, compiled)
		for _, to := range targets(r) {
			t.note(kind, to)
			of.elsewhere[to] = of.elsewhere[to] || r.crosses()
		}
		of.body = of.body || path[0].field != "metadata"
	}
	t.addPaths(kind, of, s, fail)
	if s.anyName && of.isCustom {
		t.note(kind, anyKind)
		of.body = true
	}
	return errors.Join(errs...)
}

// crosses reports whether a reference may name what is in another namespace. What was learned may hold a namespace and
// a slash before the name.
func (r Reference) crosses() bool {
	return r.Strength == Learned || r.NamespaceField != "" || r.NamespaceFrom != "" ||
		r.Format == pairFormat || r.Format == hostFormat ||
		r.Namespace != "" && r.Namespace != "-"
}

// addPaths takes the paths of a Source that are no references.
func (t *Table) addPaths(kind schema.GroupKind, of *source, s Source, fail func(what string, err error)) {
	of.root.noteText(s)
	of.hasText = of.hasText || len(s.PodTemplates)+len(s.PodSpecs)+len(s.Texts) > 0
	for _, text := range s.Texts {
		path, err := parsePath(text)
		fail(fmt.Sprintf("texts %q", text), err)
		of.root.at(path).isText = true
		of.body = true
	}
	for _, template := range s.PodTemplates {
		path, err := parsePath(template)
		fail(fmt.Sprintf("podTemplates %q", template), err)
		of.templates = append(of.templates, path)
	}
	for _, guess := range s.Guess {
		path, err := parsePath(strings.TrimPrefix(guess, "."))
		fail(fmt.Sprintf("guess %q", guess), err)
		of.root.at(path).guess = guess
		of.body, of.isOpen = true, true
		t.note(kind, anyKind)
		of.elsewhere[anyKind] = true
	}
}

// source is the source of a kind, which may be new.
func (t *Table) source(kind schema.GroupKind) *source {
	if of := t.sources[kind]; of != nil {
		return of
	}
	of := &source{
		root: &node{}, isCustom: isCustom(kind.Group), inventory: isInventory(kind), elsewhere: map[schema.GroupKind]bool{},
	}
	t.sources[kind] = of
	for _, to := range namesBesides(kind) {
		t.note(kind, to)
		of.body = true
	}
	return of
}

// targets are the kinds that a reference may name.
func targets(r Reference) (kinds []schema.GroupKind) {
	if r.To != "" {
		kinds = append(kinds, schema.ParseGroupKind(r.To))
	}
	if r.KindField != "" && len(r.Kinds) == 0 {
		kinds = append(kinds, anyKind)
	}
	for _, to := range r.Kinds {
		kinds = append(kinds, schema.ParseGroupKind(to))
	}
	return kinds
}

// note takes note that objects of a kind may name others of a kind.
func (t *Table) note(kind, to schema.GroupKind) {
	if !slices.Contains(t.namedBy[to], kind) {
		t.namedBy[to] = append(t.namedBy[to], kind)
	}
}

// anyKind stands for what a reference names that says itself of what kind it is.
var anyKind = schema.GroupKind{Kind: "*"}

// NamedBy are the kinds whose objects can name one of the kind. The list is the Table's own: nobody may change it.
func (t *Table) NamedBy(kind schema.GroupKind) []schema.GroupKind {
	if of, ok := t.namedBy[kind]; ok {
		return of
	}
	return t.namedBy[anyKind]
}

// Kinds are the kinds whose objects can name others.
func (t *Table) Kinds() []schema.GroupKind { return slices.Clone(t.kinds) }

// PodKinds are Pods, and the kinds that hold templates of Pods, or may.
func (t *Table) PodKinds() []schema.GroupKind { return slices.Clone(t.podKinds) }

// CustomKinds are the kinds of custom resources, except reports of what a tool saw.
func (t *Table) CustomKinds() []schema.GroupKind {
	return slices.DeleteFunc(t.Kinds(), func(kind schema.GroupKind) bool { return !t.sources[kind].isCustom })
}

// TextKinds are the kinds in whose texts any name may stand: what gives Pods and drivers texts, what controllers read
// annotations of, and custom resources.
func (t *Table) TextKinds() []schema.GroupKind {
	return slices.DeleteFunc(t.Kinds(), func(kind schema.GroupKind) bool {
		s := t.sources[kind]
		return !s.isCustom && !s.hasText && !slices.Contains(annotated, kind.String())
	})
}

// NamesElsewhere reports whether objects of the kind can name objects of another kind in other namespaces: by a
// reference, or by "namespace/name" in a text, as in the arguments of a workload or anywhere in a custom resource. Pods
// and ReplicaSets have the texts of what makes them.
func (t *Table) NamesElsewhere(kind, other schema.GroupKind) bool {
	s := t.sources[kind]
	if s == nil {
		return false
	}
	hasText := s.isCustom || s.hasText && kind != podKind && kind != replicaSetKind
	return hasText || s.elsewhere[other] || s.elsewhere[anyKind]
}

// NeedsBody reports whether objects of the kind name others outside of their metadata. Of any other kind the metadata
// is enough.
func (t *Table) NeedsBody(kind schema.GroupKind) bool {
	s := t.sources[kind]
	return s != nil && s.body
}
