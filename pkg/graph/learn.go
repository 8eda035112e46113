// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// property is what we read of an OpenAPI v3 schema.
type property struct {
	Ref                  string              `json:"$ref"`
	Type                 string              `json:"type"`
	Format               string              `json:"format"`
	Properties           map[string]property `json:"properties"`
	Items                *property           `json:"items"`
	AdditionalProperties json.RawMessage     `json:"additionalProperties"`
	AllOf                []property          `json:"allOf"`
	Unknown              bool                `json:"x-kubernetes-preserve-unknown-fields"`
	IntOrString          bool                `json:"x-kubernetes-int-or-string"`
	Embedded             bool                `json:"x-kubernetes-embedded-resource"`
	Kinds                []struct {
		Group, Version, Kind string
	} `json:"x-kubernetes-group-version-kind"`
}

// LearnDocument learns what objects can name from a document that an API server has at /openapi/v3: of each kind in it
// the fields that look like a reference, by their names, where it leaves its fields open, and whether a text may be any
// name. A kind without any has an empty Source. Kinds of groups without a dot in their names are left out, for they are
// built in. Feed it with documents of custom resources.
func LearnDocument(document []byte) ([]Source, error) {
	var parsed struct {
		Components struct {
			Schemas map[string]property `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &parsed); err != nil {
		return nil, fmt.Errorf("learning references from schemas: %w", err)
	}
	schemas := parsed.Components.Schemas
	var sources []Source
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		root := schemas[name]
		// What has several is of all groups: DeleteOptions, WatchEvent. The group of a custom resource has a dot; Status has
		// none.
		if len(root.Kinds) != 1 || isList(root) || !strings.Contains(root.Kinds[0].Group, ".") {
			continue
		}
		kind := schema.GroupKind{Group: root.Kinds[0].Group, Kind: root.Kinds[0].Kind}
		l := learner{schemas: schemas, source: Source{Strength: Learned, Kind: kind.String()}, leftOut: leftOut(kind)}
		l.root(root)
		sources = append(sources, l.source)
	}
	return sources, nil
}

// isList reports whether the schema is of a list of objects.
func isList(s property) bool {
	_, items := s.Properties["items"]
	return items && strings.HasSuffix(s.Kinds[0].Kind, "List")
}

// maxLearned is how many references are learned of one kind. One that has more, and one that is nested too deeply, is
// looked through instead.
const maxLearned = 5000

type learner struct {
	schemas map[string]property
	source  Source
	// leftOut are the fields of the object that are not looked at.
	leftOut []string
	// steps is how many values were looked at: one schema may stand at thousands of places.
	steps int
}

// root learns from the schema of a kind. The metadata of all kinds are alike.
func (l *learner) root(s property) {
	s = l.resolved(s)
	// Of a kind without a schema, or with one that is not structural, nothing is published.
	if s.Unknown || len(s.Properties) == 0 || s.isUnwritable() {
		l.guess(".")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(l.leftOut, name) {
			l.field(joinName("", name), name, s.Properties[name], s, 0)
		}
	}
	if len(l.source.References) > maxLearned || l.steps > 20*maxLearned {
		l.source.References, l.source.PodTemplates, l.source.PodSpecs, l.source.Guess = nil, nil, nil, []string{"."}
	}
}

// isOpen reports whether the value may hold more than the schema, or a path, says.
func (s *property) isOpen() bool {
	return s.Unknown || s.Embedded || s.isUnwritable() ||
		s.Type == "object" && len(s.Properties) == 0 && string(s.AdditionalProperties) == "true"
}

// isUnwritable reports whether no path can name one of the fields.
func (s *property) isUnwritable() bool {
	for name := range s.Properties {
		if !canJoin(name) {
			return true
		}
	}
	return false
}

// text takes a value that may be any name, or have it as a key. A status says what a controller saw: for it alone no
// kind is read.
func (l *learner) text(path string, s property) {
	root, _, _ := strings.Cut(path, ".")
	is := s.IntOrString || s.Type == "string" && !slices.Contains(noNames, s.Format) ||
		len(s.AdditionalProperties) > 0 && string(s.AdditionalProperties) != "false"
	l.source.anyName = l.source.anyName || is && root != "status"
}

func (l *learner) guess(path string) { l.source.Guess = append(l.source.Guess, path) }

// resolved is the schema with what it refers to in its place.
func (l *learner) resolved(s property) property {
	for range maxDepth {
		switch {
		case s.Ref != "":
			s = l.schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
		case len(s.AllOf) == 1 && len(s.Properties) == 0:
			unknown := s.Unknown
			s = s.AllOf[0]
			s.Unknown = s.Unknown || unknown
		default:
			return s
		}
	}
	return s
}

// field learns from one field, by its name and its schema. beside has the fields beside it.
func (l *learner) field(path, name string, s, beside property, depth int) {
	s = l.resolved(s)
	if to, ok := looksLike(name); ok {
		l.named(path, name, to, s, beside)
	}
	l.value(path, s, depth)
}

// value learns from what is in a value.
func (l *learner) value(path string, s property, depth int) {
	s = l.resolved(s)
	if l.steps++; l.steps > 20*maxLearned {
		return
	}
	if s.isOpen() || depth >= maxDepth/2 {
		l.guess(path)
		return
	}
	l.text(path, s)
	var values property
	switch {
	case s.Items != nil:
		l.value(path+"[]", *s.Items, depth+1)
	case json.Unmarshal(s.AdditionalProperties, &values) == nil:
		l.value(join(path, "*"), values, depth+1)
	}
	isPod := l.isPodSpec(s)
	if isPod {
		l.pod(path)
	}
	l.typed(path, s)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if isPod && slices.Contains(inPodSpec, name) || name == ownerReferences {
			continue
		}
		l.field(joinName(path, name), name, s.Properties[name], s, depth+1)
	}
}

// inPodSpec are the parts of the spec of a Pod that the table describes.
var inPodSpec = []string{"containers", "initContainers", "ephemeralContainers", "volumes"}

// isPodSpec reports whether the value is the spec of a Pod, or holds enough of one.
func (l *learner) isPodSpec(s property) bool {
	containers := l.resolved(s.Properties["containers"])
	if containers.Items == nil {
		return false
	}
	_, image := l.resolved(*containers.Items).Properties["image"]
	return image
}

// pod takes the spec of a Pod, with its metadata where they are beside it.
func (l *learner) pod(path string) {
	if template, ok := strings.CutSuffix(path, ".spec"); ok {
		l.source.PodTemplates = append(l.source.PodTemplates, template)
		return
	}
	l.source.PodSpecs = append(l.source.PodSpecs, path)
}

// named takes a field whose name looks like that of a reference.
func (l *learner) named(path, name string, to schema.GroupKind, s, beside property) {
	switch {
	case s.Type == "string":
		r := Reference{Path: path, To: to.String()}
		r.NamespaceField = namespaceBeside(
			name,
			func(other string) bool { return l.resolved(beside.Properties[other]).Type == "string" },
		)
		l.add(r)
	case s.Type == "array" && s.Items != nil:
		l.named(path+"[]", "", to, l.resolved(*s.Items), property{})
	case l.hasText(s, "name"), s.Unknown:
		l.add(l.below(path, Reference{To: to.String()}, s))
	}
}

// below is a reference to what a map names, with what its schema says about it besides the name.
func (l *learner) below(path string, r Reference, s property) Reference {
	r.Path = join(path, "name")
	if l.hasText(s, "namespace") {
		r.NamespaceField = "namespace"
	}
	if l.resolved(s.Properties["optional"]).Type == "boolean" {
		r.OptionalField = "optional"
	}
	return r
}

func (l *learner) hasText(s property, field string) bool {
	return l.resolved(s.Properties[field]).Type == "string"
}

// typed takes a map that says the kind and the name of an object.
func (l *learner) typed(path string, s property) {
	if !l.hasText(s, "kind") || !l.hasText(s, "name") || isListed(path) {
		return
	}
	r := l.below(path, Reference{KindField: "kind"}, s)
	for _, field := range []string{"apiVersion", "apiGroup", "group"} {
		if r.GroupField == "" && l.hasText(s, field) {
			r.GroupField = field
		}
	}
	l.add(r)
}

func (l *learner) add(r Reference) { l.source.References = append(l.source.References, r) }
