// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import "slices"

// Strength is how sure it is that who holds a reference uses what it names.
type Strength string

// The strengths of references.
const (
	// Names is a field that says by its meaning that the object is used.
	Names Strength = "Names"
	// Learned is a field that looks like one, by its schema.
	Learned Strength = "Learned"
	// Reads is a right to read the object by its name, or a name with variables in it: whether anybody means this one is
	// not known.
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
	// Guess are paths of values in which what looks like a reference, by the name of its field, counts as one that was
	// learned. "." is the object.
	Guess []string `json:"guess,omitempty"`
	// Texts are the paths of texts in which names can stand beside other words.
	Texts      []string    `json:"texts,omitempty"`
	References []Reference `json:"references,omitempty"`
	// Strength is that of all references that do not say another.
	Strength Strength `json:"strength,omitempty"`
	// anyName is true when a text of the objects, in a field of which nothing is known, may be the name of any object.
	anyName bool
}

// Reference says where a name is, and what it is the name of.
type Reference struct {
	// Path leads from the object to the name: field names with dots between them. "[]" after a name stands for each
	// element of a list, "*" in place of a name for each value of a map, and a name with dots in it stands in brackets:
	// metadata.annotations[example.com/secret].
	Path string `json:"path"`
	// To is the kind that is named, with its group after a dot: Role.rbac.authorization.k8s.io. Where KindField names a
	// field that says it, To is what is meant when that field is absent.
	To string `json:"to,omitempty"`
	// Kinds are the kinds that a field of KindField can say. Without them, the objects count among what can name an object
	// of any kind.
	Kinds []string `json:"kinds,omitempty"`
	// KindField, GroupField and NamespaceField are fields beside the name, as paths from the map that holds it. The group
	// may be an apiVersion.
	KindField      string `json:"kindField,omitempty"`
	GroupField     string `json:"groupField,omitempty"`
	NamespaceField string `json:"namespaceField,omitempty"`
	// NamespaceFrom is the path, from the object, of the namespace where NamespaceField says none.
	NamespaceFrom string `json:"namespaceFrom,omitempty"`
	// Namespace is that of what is named, when it is not the source's own: "-" for what is cluster-scoped, "*" for any, or
	// a name.
	Namespace string `json:"namespace,omitempty"`
	// OptionalField, beside the name, is true when the object need not exist. Optional is for a reference that is always
	// so.
	OptionalField string `json:"optionalField,omitempty"`
	Optional      bool   `json:"optional,omitempty"`
	// Where is a field beside the name without which the reference does not count, or field=value.
	Where string `json:"where,omitempty"`
	// Absent is the name that is meant where the field is absent.
	Absent string `json:"absent,omitempty"`
	// Format is what becomes of the text: "{}-app" adds to the name, "{metadata.name}-{}" another text of the object, and
	// "namespace/name" reads both from it, and "host" the Service of a URL. "#" at its end stands for any number.
	Format string `json:"format,omitempty"`
	// Strength is Names unless it, or the Source, says otherwise.
	Strength Strength `json:"strength,omitempty"`
}
