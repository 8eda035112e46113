// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Strength is how sure it is that who holds a reference uses what it names.
type Strength string

// The strengths of references.
const (
	// Names is a field that says by its meaning that the object is used.
	Names Strength = "Names"
	// Learned is a field that looks like one, by its schema.
	Learned Strength = "Learned"
	// Reads is a right to read the object by its name, or a name with variables in it: whether anybody means this one is not known.
	Reads Strength = "Reads"
	// Hints is for all objects of a kind, whichever there are: it says of none that it is used, but one of them may be.
	Hints Strength = "Hints"
)

// isUse reports whether who holds such a reference counts as a user.
func (s Strength) isUse() bool { return s == Names || s == Learned }

// rank orders the strengths: of two references of one user to one object, the stronger counts.
func (s Strength) rank() int { return slices.Index([]Strength{Hints, Reads, Learned, Names}, s) }

// Source says which fields of a kind's objects name others.
type Source struct {
	// Kind is the kind and, after a dot, the group: Deployment.apps.
	Kind string `json:"kind"`
	// PodTemplates are the paths of embedded Pods: maps with a spec, and metadata with labels.
	PodTemplates []string `json:"podTemplates,omitempty"`
	// PodSpecs are the paths of specs of Pods that have no metadata.
	PodSpecs []string `json:"podSpecs,omitempty"`
	// ClaimSpecs are the paths of specs of PersistentVolumeClaims.
	ClaimSpecs []string `json:"claimSpecs,omitempty"`
	// Guess are paths of values in which what looks like a reference, by the name of its field, counts as one that was learned. "." is the object.
	Guess      []string    `json:"guess,omitempty"`
	References []Reference `json:"references,omitempty"`
	// Strength is that of all references that do not say another.
	Strength Strength `json:"strength,omitempty"`
}

// Reference says where a name is, and what it is the name of.
type Reference struct {
	// Path leads from the object to the name: field names with dots between them. "[]" after a name stands for each element of a list, "*" in place
	// of a name for each value of a map, and a name with dots in it stands in brackets: metadata.annotations[example.com/secret].
	Path string `json:"path"`
	// To is the kind that is named, with its group after a dot: Role.rbac.authorization.k8s.io. Where KindField names a field that says it, To is what
	// is meant when that field is absent.
	To string `json:"to,omitempty"`
	// Kinds are the kinds that a field of KindField can say. Without them, the objects count among what can name an object of any kind.
	Kinds []string `json:"kinds,omitempty"`
	// KindField, GroupField and NamespaceField are fields beside the name, as paths from the map that holds it. The group may be an apiVersion.
	KindField      string `json:"kindField,omitempty"`
	GroupField     string `json:"groupField,omitempty"`
	NamespaceField string `json:"namespaceField,omitempty"`
	// NamespaceFrom is the path, from the object, of the namespace where NamespaceField says none.
	NamespaceFrom string `json:"namespaceFrom,omitempty"`
	// Namespace is that of what is named, when it is not the source's own: "-" for what is cluster-scoped, "*" for any, or a name.
	Namespace string `json:"namespace,omitempty"`
	// OptionalField, beside the name, is true when the object need not exist. Optional is for a reference that is always so.
	OptionalField string `json:"optionalField,omitempty"`
	Optional      bool   `json:"optional,omitempty"`
	// Where is a field beside the name without which the reference does not count, or field=value.
	Where string `json:"where,omitempty"`
	// Absent is the name that is meant where the field is absent.
	Absent string `json:"absent,omitempty"`
	// Format is what becomes of the text: "{}-app" adds to the name, "{metadata.name}-{}" another text of the object, and "namespace/name" reads both
	// from it. "#" at its end stands for any number.
	Format string `json:"format,omitempty"`
	// Strength is Names unless it, or the Source, says otherwise.
	Strength Strength `json:"strength,omitempty"`
}

// Table says what can name what.
type Table struct {
	sources map[schema.GroupKind]*source
	// namedBy are the kinds whose objects can name one of the kind, in the order of their names. anyKind has those that can name one of any kind.
	namedBy map[schema.GroupKind][]schema.GroupKind
}

// source is a Source as it is read: the fields as a tree.
type source struct {
	root *node
	// templates are the paths of PodTemplates. isOpen is true when there may be others, in values that nobody has described.
	templates [][]step
	isOpen    bool
	// body is true when a reference is outside of the metadata.
	body bool
	// isCustom is true for custom resources: any string of them may be a name. hasText is true for what gives Pods texts.
	isCustom, hasText bool
	// elsewhere are the kinds of which it may name objects of other namespaces.
	elsewhere map[schema.GroupKind]bool
}

// The kinds under which the table says what the spec of a Pod and of a claim names, wherever it is.
const (
	podSpec   = "PodSpec"
	claimSpec = "PersistentVolumeClaimSpec"
)

// NewTable makes a table. Of several Sources of a kind all references count. The error tells all that is wrong.
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
	byName := func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) }
	ofAny := t.namedBy[anyKind]
	for kind, of := range t.namedBy {
		if kind != anyKind {
			of = slices.Concat(of, ofAny)
		}
		slices.SortFunc(of, byName)
		t.namedBy[kind] = slices.Clip(slices.Compact(of))
	}
}

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
		// What was learned may hold a namespace and a slash before the name.
		crosses := compiled.Strength == Learned || r.NamespaceField != "" || r.NamespaceFrom != "" || r.Format == pairFormat || r.Namespace != "" && r.Namespace != "-"
		for _, to := range targets(r) {
			t.note(kind, to)
			of.elsewhere[to] = of.elsewhere[to] || crosses
		}
		of.body = of.body || path[0].field != "metadata"
	}
	of.root.noteText(s)
	of.hasText = of.hasText || len(s.PodTemplates)+len(s.PodSpecs) > 0
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
	return errors.Join(errs...)
}

// source is the source of a kind, which may be new.
func (t *Table) source(kind schema.GroupKind) *source {
	if of := t.sources[kind]; of != nil {
		return of
	}
	of := &source{root: &node{}, isCustom: isCustom(kind.Group), elsewhere: map[schema.GroupKind]bool{}}
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
func (t *Table) Kinds() []schema.GroupKind {
	found := make([]schema.GroupKind, 0, len(t.sources))
	for kind := range t.sources {
		found = append(found, kind)
	}
	slices.SortFunc(found, func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	return found
}

// PodKinds are Pods, and the kinds that hold templates of Pods, or may.
func (t *Table) PodKinds() []schema.GroupKind {
	var found []schema.GroupKind
	for kind, s := range t.sources {
		if kind == podKind || len(s.templates) > 0 || s.isOpen {
			found = append(found, kind)
		}
	}
	slices.SortFunc(found, func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	return found
}

// NamesElsewhere reports whether objects of the kind can name objects of another kind in other namespaces: by a reference, or by "namespace/name" in a
// text, as in the arguments of a workload or anywhere in a custom resource. Pods and ReplicaSets have the texts of what makes them.
func (t *Table) NamesElsewhere(kind, other schema.GroupKind) bool {
	s := t.sources[kind]
	if s == nil {
		return false
	}
	hasText := s.isCustom || s.hasText && kind != podKind && kind != replicaSetKind
	return hasText || s.elsewhere[other] || s.elsewhere[anyKind]
}

// NeedsBody reports whether objects of the kind name others outside of their metadata. Of any other kind the metadata is enough.
func (t *Table) NeedsBody(kind schema.GroupKind) bool {
	s := t.sources[kind]
	return s != nil && s.body
}
