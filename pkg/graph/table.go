// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

//go:embed references.yaml
var builtIn []byte

// Strength is how sure it is that who holds a reference uses what it names.
type Strength string

// The strengths of references.
const (
	// Names is a field that says by its meaning that the object is used.
	Names Strength = "Names"
	// Learned is a field that looks like one, by its schema.
	Learned Strength = "Learned"
	// Reads is a right to read the object by its name: whether anybody does is not known.
	Reads Strength = "Reads"
)

// Source says which fields of a kind's objects name others.
type Source struct {
	// Kind is the kind and, after a dot, the group: Deployment.apps.
	Kind string `json:"kind"`
	// PodTemplates are the paths of embedded Pods: maps with a spec, and metadata with labels.
	PodTemplates []string `json:"podTemplates,omitempty"`
	// PodSpecs are the paths of specs of Pods that have no metadata.
	PodSpecs   []string    `json:"podSpecs,omitempty"`
	References []Reference `json:"references,omitempty"`
}

// Reference says where a name is, and what it is the name of.
type Reference struct {
	// Path leads from the object to the name: field names with dots between them. "[]" after a name stands for each element of a list, "*" in place
	// of a name for each value of a map, and a name with dots in it stands in brackets: metadata.annotations[example.com/secret].
	Path string `json:"path"`
	// To is the kind that is named, with its group after a dot: Role.rbac.authorization.k8s.io. Where KindField names a field that says it, To is what
	// is meant when that field is absent.
	To string `json:"to,omitempty"`
	// KindField, GroupField and NamespaceField are fields beside the name, as paths from the map that holds it. The group may be an apiVersion.
	KindField      string `json:"kindField,omitempty"`
	GroupField     string `json:"groupField,omitempty"`
	NamespaceField string `json:"namespaceField,omitempty"`
	// Namespace is that of what is named, when it is not the source's own: "-" for what is cluster-scoped, or a name.
	Namespace string `json:"namespace,omitempty"`
	// OptionalField, beside the name, is true when the object need not exist. Optional is for a reference that is always so.
	OptionalField string `json:"optionalField,omitempty"`
	Optional      bool   `json:"optional,omitempty"`
	// Format is what becomes of the text: "{}-app" adds to the name, and "namespace/name" reads both from it.
	Format string `json:"format,omitempty"`
	// Strength is Names unless it says otherwise.
	Strength Strength `json:"strength,omitempty"`
}

// Table says what can name what.
type Table struct {
	sources map[schema.GroupKind]*source
	// namedBy are the kinds whose objects can name one of the kind.
	namedBy map[schema.GroupKind][]schema.GroupKind
}

// source is a Source as it is read: the fields as a tree.
type source struct {
	root *node
	// templates are the paths of PodTemplates.
	templates [][]step
	// crosses is true when a reference may be to another namespace.
	crosses bool
}

// BuiltIn is the table of the kinds that we know.
func BuiltIn() (*Table, error) {
	sources, err := BuiltInSources()
	if err != nil {
		return nil, err
	}
	return NewTable(sources)
}

// BuiltInSources are the Sources of BuiltIn, for a table with more than them.
func BuiltInSources() ([]Source, error) { return Parse(builtIn) }

// Parse reads a list of Sources from YAML. A field that it does not know is an error.
func Parse(text []byte) ([]Source, error) {
	var sources []Source
	if err := yaml.UnmarshalStrict(text, &sources); err != nil {
		return nil, fmt.Errorf("references: %w", err)
	}
	return sources, nil
}

// podSpec is the kind under which the table says what the spec of a Pod names.
const podSpec = "PodSpec"

// NewTable makes a table. Of several Sources of a kind all references count. The error tells all that is wrong.
func NewTable(sources []Source) (*Table, error) {
	t := &Table{sources: map[schema.GroupKind]*source{}, namedBy: map[schema.GroupKind][]schema.GroupKind{}}
	var inPods []Reference
	for _, s := range sources {
		if s.Kind == podSpec {
			inPods = append(inPods, s.References...)
		}
	}
	var errs []error
	for _, s := range sources {
		if s.Kind == podSpec {
			continue
		}
		if err := t.add(s, inPods); err != nil {
			errs = append(errs, fmt.Errorf("references of %s: %w", s.Kind, err))
		}
	}
	return t, errors.Join(errs...)
}

func (t *Table) add(s Source, inPods []Reference) error {
	kind := schema.ParseGroupKind(s.Kind)
	of := t.sources[kind]
	if of == nil {
		of = &source{root: &node{}}
		t.sources[kind] = of
	}
	var errs []error
	add := func(prefix string, r Reference) {
		r.Path = prefix + r.Path
		compiled, path, err := compile(r)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.Path, err))
			return
		}
		of.root.at(path).references = append(of.root.at(path).references, compiled)
		t.note(kind, r)
		of.crosses = of.crosses || r.NamespaceField != "" || r.Format == pairFormat || r.Namespace != "" && r.Namespace != "-"
	}
	for _, r := range s.References {
		add("", r)
	}
	specs := slices.Clone(s.PodSpecs)
	for _, template := range s.PodTemplates {
		specs = append(specs, join(template, "spec"))
		path, err := parsePath(template)
		errs, of.templates = append(errs, err), append(of.templates, path)
	}
	for _, spec := range specs {
		for _, r := range inPods {
			add(spec+".", r)
		}
	}
	return errors.Join(errs...)
}

// note takes note that objects of a kind may name others of a kind.
func (t *Table) note(kind schema.GroupKind, r Reference) {
	to := schema.ParseGroupKind(r.To)
	if r.KindField != "" {
		to = anyKind
	}
	if !slices.Contains(t.namedBy[to], kind) {
		t.namedBy[to] = append(t.namedBy[to], kind)
	}
}

// anyKind stands for what a reference names that says itself of what kind it is.
var anyKind = schema.GroupKind{Kind: "*"}

// NamedBy are the kinds whose objects can name one of the kind.
func (t *Table) NamedBy(kind schema.GroupKind) []schema.GroupKind {
	found := slices.Concat(t.namedBy[kind], t.namedBy[anyKind])
	slices.SortFunc(found, func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(found)
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

func join(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}

// PodKinds are Pods, and the kinds that hold templates of Pods.
func (t *Table) PodKinds() []schema.GroupKind {
	var found []schema.GroupKind
	for kind, s := range t.sources {
		if kind == podKind || len(s.templates) > 0 {
			found = append(found, kind)
		}
	}
	return found
}

// CrossesNamespaces reports whether objects of the kind can name objects of other namespaces.
func (t *Table) CrossesNamespaces(kind schema.GroupKind) bool {
	s := t.sources[kind]
	return s != nil && s.crosses
}
