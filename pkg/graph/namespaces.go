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

// otherNamespaces are those that stand in a custom resource: in fields such as namespace and configNamespace, and in
// its texts, as in "kubectl -n shop get secret login".
func otherNamespaces(o *object.Parts) (others []string) {
	for name, value := range object.JSON(o.Raw).Fields() {
		if !name.Is("metadata") {
			others = addNamespaces(others, o.Namespace, value, 0)
		}
	}
	if len(others) > maxOthers {
		return anyOther
	}
	return others
}

// addNamespaces adds those that stand in a value, without the object's own. It stops when there are too many.
func addNamespaces(others []string, own string, value object.JSON, depth int) []string {
	if depth > maxDepth {
		return slices.Repeat(anyOther, maxOthers+1)
	}
	switch value.Type() {
	case object.String:
		in := namespaces{own: own, others: others}
		in.read(value)
		return in.others
	case object.Map:
		for name, field := range value.Fields() {
			if isNamespaceField(name.String()) && field.Type() == object.String {
				others = addNamespace(others, own, field.Text())
			}
			if others = addNamespaces(others, own, field, depth+1); len(others) > maxOthers {
				break
			}
		}
	case object.List:
		for element := range value.Elements() {
			if others = addNamespaces(others, own, element, depth+1); len(others) > maxOthers {
				break
			}
		}
	}
	return others
}

func addNamespace(others []string, own, namespace string) []string {
	if namespace == "" || namespace == own || slices.Contains(others, namespace) {
		return others
	}
	return append(others, namespace)
}

func isNamespaceField(name string) bool {
	return name == "namespace" || strings.HasSuffix(name, "Namespace")
}

// namespaces are other namespaces that stand in texts, as the values of flags and variables.
type namespaces struct {
	own    string
	others []string
	// awaited is true when the next word is the value of a flag or a variable whose name says that it is a namespace.
	awaited bool
}

// read takes those of a text. A flag and its value may be in two texts, one after the other.
func (n *namespaces) read(text object.JSON) {
	eachToken(text, &tokenParts, func(before token, word []byte) {
		isNext := len(before.word) == 0 || bytes.IndexFunc(before.gap, isOutsideValue) < 0
		if n.awaited && isNext && bytes.IndexFunc(word, isOutsideName) < 0 {
			n.others = addNamespace(n.others, n.own, string(bytes.Trim(word, "-.")))
		}
		n.awaited = string(word) == "-n" || bytes.HasSuffix(bytes.ToLower(word), []byte("namespace"))
	})
}

// isOutsideValue reports whether a rune stands between two words that are not a name and its value.
func isOutsideValue(r rune) bool { return r >= utf8.RuneSelf || !strings.ContainsRune(` :="'\\`, r) }

// namespacesOfPods are those that stand in the commands, the arguments and the variables of Pods: what stands beside
// them may be the name of an object there.
func (t *Table) namespacesOfPods(o *object.Parts) []string {
	in := namespaces{own: o.Namespace}
	t.EachTemplate(o, func(_, spec object.JSON) {
		for _, list := range []string{"containers", "initContainers"} {
			for container := range spec.Field(list).Elements() {
				in.readContainer(container)
			}
		}
	})
	if len(in.others) > maxOthers {
		return anyOther
	}
	return in.others
}

func (n *namespaces) readContainer(container object.JSON) {
	for _, field := range []string{"command", "args"} {
		n.awaited = false
		for text := range container.Field(field).Elements() {
			n.read(text)
		}
	}
	for variable := range container.Field("env").Elements() {
		n.awaited = false
		n.read(variable.Field("name"))
		n.read(variable.Field("value"))
	}
}
