// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// maxOthers is how many other namespaces may stand in a custom resource. With more, its words may be names in any.
const maxOthers = 16

// anyOther stands for all namespaces.
var anyOther = []string{""}

// otherNamespaces are those that stand in an object, without its own: what stands beside them may be the name of an
// object there. In custom resources, they stand in fields such as namespace and configNamespace, and in any text, as in
// "kubectl -n shop get secret login"; in Pods, in the commands, the arguments and the variables.
func (t *Table) otherNamespaces(o *object.Parts, isCustom bool) []string {
	in := namespaces{own: o.Namespace}
	if isCustom {
		for name, value := range object.JSON(o.Raw).Fields() {
			if in.awaited = false; !name.Is("metadata") {
				in.inValue(value, 0)
			}
		}
	} else {
		t.EachTemplate(o, func(_, spec object.JSON) { in.inPod(spec) })
	}
	if in.tooMany() {
		return anyOther
	}
	return in.others
}

func isNamespaceField(name string) bool {
	return name == "namespace" || strings.HasSuffix(name, "Namespace")
}

// namespaces are the other namespaces that stand in an object.
type namespaces struct {
	own    string
	others []string
	// awaited is true when the next word is the value of a flag or a variable whose name says that it is a namespace.
	awaited bool
	tooDeep bool
}

func (n *namespaces) tooMany() bool { return n.tooDeep || len(n.others) > maxOthers }

func (n *namespaces) add(namespace string) {
	if namespace != "" && namespace != n.own && !n.tooMany() && !slices.Contains(n.others, namespace) {
		n.others = append(n.others, namespace)
	}
}

// inValue takes those that stand in a value of a custom resource.
func (n *namespaces) inValue(value object.JSON, depth int) {
	if n.tooDeep = n.tooDeep || depth > maxDepth; n.tooMany() {
		return
	}
	switch value.Type() {
	case object.String:
		n.read(value)
	case object.Map:
		for name, field := range value.Fields() {
			if isNamespaceField(name.String()) && field.Type() == object.String {
				n.add(field.Text())
			}
			n.awaited = false
			n.inValue(field, depth+1)
		}
		n.variable(value)
	case object.List: // a flag and its value may be two elements
		n.awaited = false
		for element := range value.Elements() {
			n.inValue(element, depth+1)
		}
	}
	n.awaited = n.awaited && value.Type() == object.String
}

// read takes those of a text. A flag and its value may be in two texts, one after the other.
func (n *namespaces) read(text object.JSON) {
	eachToken(text, &tokenParts, func(before token, word []byte) {
		isNext := len(before.word) == 0 || bytes.IndexFunc(before.gap, isOutsideValue) < 0
		if n.awaited && isNext && bytes.IndexFunc(word, isOutsideName) < 0 {
			n.add(string(bytes.Trim(word, "-.")))
		}
		n.awaited = string(word) == "-n" || bytes.HasSuffix(bytes.ToLower(word), []byte("namespace"))
	})
}

// isOutsideValue reports whether a rune stands between two words that are not a name and its value.
func isOutsideValue(r rune) bool { return r >= utf8.RuneSelf || !strings.ContainsRune(` :="'\\`, r) }

// inPod takes those of a Pod.
func (n *namespaces) inPod(spec object.JSON) {
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for container := range spec.Field(list).Elements() {
			n.inContainer(container)
		}
	}
}

func (n *namespaces) inContainer(container object.JSON) {
	for _, field := range []string{"command", "args"} {
		n.awaited = false
		for text := range container.Field(field).Elements() {
			n.read(text)
		}
	}
	for variable := range container.Field("env").Elements() {
		n.variable(variable)
	}
}

// variable takes that of a variable, or of a parameter, with a name and a value.
func (n *namespaces) variable(variable object.JSON) {
	name, value := variable.Field("name"), variable.Field("value")
	n.awaited = false
	if name.Type() == object.String && value.Type() == object.String {
		n.read(name)
		n.read(value)
	}
	n.awaited = false
}
