// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"encoding/json"
	"hash/maphash"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func decode(value object.JSON, into any) error { return json.Unmarshal(value, into) }

const (
	// maxMentions is how many words are kept. Beyond it, any name counts as mentioned.
	maxMentions = 500_000
	// shortestMention is how long a name must be to be looked for in text: "app" says nothing.
	shortestMention = 4
)

// mentions are the words that stand in what Pods are given as text: arguments, the values of variables, annotations. That a name stands there proves
// nothing, but somebody may read the object by it.
type mentions struct {
	words map[key]struct{}
	full  bool
	bytes int64
}

// textIn are the fields of a container that hold such text, without env, whose values are looked at one by one.
var textIn = []string{"args", "command"}

func (m *mentions) add(o object.Object) {
	spec := podSpecOf(o)
	if spec == nil {
		return
	}
	for _, list := range []string{"containers", "initContainers"} {
		for container := range spec.Field(list).Elements() {
			for _, field := range textIn {
				for text := range container.Field(field).Elements() {
					m.addText(o.Namespace, text)
				}
			}
			for variable := range container.Field("env").Elements() {
				m.addText(o.Namespace, variable.Field("value"))
			}
		}
	}
	for name, text := range object.JSON(o.Raw).At("metadata", "annotations").Fields() {
		if !name.Is("kubectl.kubernetes.io/last-applied-configuration") {
			m.addText(o.Namespace, text)
		}
	}
}

// podSpecOf is the spec of a Pod, or of the template of a workload. Nil of anything else.
func podSpecOf(o object.Object) object.JSON {
	spec := object.JSON(o.Raw).Field("spec")
	if o.Kind.GroupKind() == podKind {
		return spec
	}
	if template := spec.At("jobTemplate", "spec", "template", "spec"); template.Type() == object.Map {
		return template
	}
	return spec.At("template", "spec")
}

// addText takes the words of a JSON string: what could be names of objects.
func (m *mentions) addText(namespace string, text object.JSON) {
	if m.full || text.Type() != object.String {
		return
	}
	begin := -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) && isNamePart(text[i]) {
			if begin < 0 {
				begin = i
			}
			continue
		}
		if begin >= 0 && i-begin >= shortestMention {
			m.addWord(namespace, text[begin:i])
		}
		begin = -1
	}
}

func isNamePart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.'
}

func (m *mentions) addWord(namespace string, word []byte) {
	k := mentionKey(namespace, string(word))
	if _, ok := m.words[k]; ok {
		return
	}
	if m.full = len(m.words) >= maxMentions; m.full {
		return
	}
	if m.words == nil {
		m.words = map[key]struct{}{}
	}
	m.words[k] = struct{}{}
	m.bytes += 24
}

func mentionKey(namespace, word string) key {
	return key(maphash.Comparable(seed, [2]string{namespace, word}))
}

// IsMentioned reports whether the name stands in text that Pods of the object's namespace are given.
func (g *Graph) IsMentioned(name Name) bool {
	_, ok := g.mentions.words[mentionKey(name.Namespace, name.Name)]
	return g.mentions.full || ok && len(name.Name) >= shortestMention
}
