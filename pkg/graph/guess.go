// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// lookAlikes are the names of fields that name objects, in resources whose authors keep to the conventions. What stands
// before such a name, as in tokenSecretRef, changes nothing.
var lookAlikes = []struct {
	to    schema.GroupKind
	names []string
}{
	{
		secretKind,
		[]string{
			"SecretName",
			"SecretRef",
			"SecretKeyRef",
			"SecretKeySelector",
			"Secret",
			"SecretReference",
			"CredentialName",
			"PullSecrets",
			"Secrets",
			"SecretRefs",
			"SecretNames",
			"SecretsName",
			"SecretRefName",
			"SecretToRef",
		},
	},
	{
		configMapKind,
		[]string{
			"ConfigMapName",
			"ConfigMapRef",
			"ConfigMapKeyRef",
			"ConfigMapKeySelector",
			"ConfigMap",
			"ConfigMapReference",
			"Configmap",
			"ConfigMaps",
			"ConfigMapRefs",
			"ConfigMapNames",
		},
	},
	{schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceClaim"}, []string{"ResourceClaimName"}},
	{claimKind, []string{"ClaimName", "ExistingClaim", "PvcName", "PVC", "Pvc", "PersistentVolumeClaim"}},
	{serviceAccountKind, []string{"ServiceAccountName", "ServiceAccountRef", "ServiceAccount"}},
	{schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}, []string{"StorageClassName", "StorageClass"}},
	{schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}, []string{"PriorityClassName", "PriorityClass"}},
	{schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}, []string{"RuntimeClassName", "RuntimeClass"}},
	{schema.GroupKind{Group: "networking.k8s.io", Kind: "IngressClass"}, []string{"IngressClassName"}},
}

// noNames are formats of texts that are the name of no object.
var noNames = []string{
	"date", "date-time", "datetime", "duration", "byte", "ipv4", "ipv6", "cidr", "mac", "email", "uri", "uuid",
}

// looksLike is the kind that a field names, by its own name.
func looksLike(field string) (to schema.GroupKind, ok bool) {
	if field == "" {
		return to, false
	}
	capital := strings.ToUpper(field[:1]) + field[1:]
	for _, l := range lookAlikes {
		if slices.ContainsFunc(l.names, func(name string) bool { return strings.HasSuffix(capital, name) }) {
			return l.to, true
		}
	}
	return to, false
}

// namespaceBeside is the field that holds the namespace of what a field names: secretNamespace for secretName, else
// namespace.
func namespaceBeside(field string, has func(string) bool) string {
	for _, end := range []string{"Name", "Ref"} {
		if base, ok := strings.CutSuffix(field, end); ok && has(base+"Namespace") {
			return base + "Namespace"
		}
	}
	if has("namespace") {
		return "namespace"
	}
	return ""
}

// ownerReferences are of what an object belongs to: the garbage collector knows them.
const ownerReferences = "ownerReferences"

// maxDepth is how deep we look for what looks like a reference.
const maxDepth = 40

// guess adds what looks like a reference in a value whose fields nobody has described.
func (w *walker) guess(value object.JSON) {
	depth := len(w.path)
	if depth >= maxDepth {
		return
	}
	switch value.Type() {
	case object.Map:
		w.guessFields(value)
	case object.List:
		w.path = append(w.path, nil)
		for element := range value.Elements() {
			w.guess(element)
		}
		w.path = w.path[:depth]
	}
}

// guessFields adds what looks like a reference in a map.
func (w *walker) guessFields(value object.JSON) {
	depth := len(w.path)
	isObject := depth == 0 && w.from == "."
	if !isObject {
		w.guessTyped(value)
	}
	for name, field := range value.Fields() {
		if isObject && w.leavesOut(name) || name.Is(ownerReferences) {
			continue
		}
		w.path = append(w.path, name)
		if to, ok := looksLike(name.String()); ok {
			w.guessNamed(to, name.String(), field, value)
		}
		w.guess(field)
		w.path = w.path[:depth]
	}
}

// leavesOut reports whether a field of the object is not looked through.
func (w *walker) leavesOut(name object.Key) bool {
	return name.Is("metadata") || name.Is("apiVersion") || name.Is("kind") || w.inventory && name.Is("status")
}

// guessTyped adds what a map names that says the kind and the name of an object, or a name and a key in it.
func (w *walker) guessTyped(value object.JSON) {
	kind, name := value.Field("kind").Text(), value.Field("name").Text()
	if name == "" || kind != "" && isListed(w.whole()) {
		return
	}
	if kind == "" {
		_, known := looksLike(w.field())
		if !known && value.Field("key").Text() != "" { // a key of one of the two
			w.guessed(secretKind, "", name)
			w.guessed(configMapKind, "", name)
		}
		return
	}
	group := ""
	for _, field := range []string{"apiVersion", "apiGroup", "group"} {
		group = max(group, groupOf(value.Field(field).Text()))
	}
	w.guessed(kindIn(group, kind), value.Field("namespace").Text(), name)
}

// field is the name of the field that guessing has come to. Empty in a list.
func (w *walker) field() string {
	if len(w.path) == 0 || w.path[len(w.path)-1] == nil {
		return ""
	}
	return w.path[len(w.path)-1].String()
}

// guessNamed adds what a field names whose name looks like that of a reference: by its text, or the name in its map,
// or each in its list.
func (w *walker) guessNamed(to schema.GroupKind, name string, field, holder object.JSON) {
	switch field.Type() {
	case object.String:
		beside := namespaceBeside(name, func(other string) bool { return holder.Field(other).Type() == object.String })
		namespace := ""
		if beside != "" {
			namespace = holder.Field(beside).Text()
		}
		w.guessed(to, namespace, field.Text())
	case object.Map:
		w.guessed(to, field.Field("namespace").Text(), field.Field("name").Text())
	case object.List:
		for element := range field.Elements() {
			if element.Type() != object.List {
				w.guessNamed(to, "", element, nil)
			}
		}
	}
}

func (w *walker) guessed(to schema.GroupKind, namespace, name string) {
	if before, after, found := strings.Cut(name, "/"); found && couldBeName(before) {
		namespace, name = before, after
	}
	namespace, name = withoutVariables(namespace), withoutVariables(name)
	strength := Learned
	if strings.Contains(namespace+name, "*") {
		strength = Reads
	}
	if to.Group != rbacGroup &&
		!couldBeName(name) { // a password may stand in a field that looks so; a role may have any name
		return
	}
	if namespace == "" {
		namespace = w.own
	}
	w.each(Edge{To: Name{GroupKind: to, Namespace: namespace, Name: name}, Path: w.whole(), Strength: strength})
}

// whole is the path from the object to where guessing has come to.
func (w *walker) whole() string {
	path := strings.TrimPrefix(w.from, ".")
	for _, key := range w.path {
		if key == nil {
			path = joinElement(path)
		} else {
			path = joinBelow(path, key.String())
		}
	}
	return path
}

// couldBeName reports whether a text could be the name of an object of the kinds that are guessed.
func couldBeName(text string) bool {
	for i := range len(text) {
		if !isNamePart(text[i]) && text[i] != '*' {
			return false
		}
	}
	return text != "" && len(text) <= maxName
}
