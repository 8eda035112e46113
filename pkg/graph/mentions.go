// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bytes"
	"cmp"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func decode(value object.JSON, into any) error { return json.Unmarshal(value, into) }

const (
	// maxMentions is how many words are kept. Beyond it, any name counts as mentioned.
	maxMentions = 1_000_000
	// shortestMention is how long a name must be to be looked for in text: "app" says nothing.
	shortestMention = 4
)

// mentions are the words that stand in what Pods are given as text: arguments, the values of variables, annotations,
// attributes of volumes; and what is a word in a custom resource. That a name stands there proves nothing, but somebody
// may read the object by it.
type mentions struct {
	// of is the only namespace whose names matter. Empty for all.
	of string
	// words are there with their namespaces and, unless it is only one, with "*" for all.
	words map[key]struct{}
	// own are the words that only objects of one kind say that are called so themselves, with that kind.
	own map[key]schema.GroupKind
	// patterns are words in which "*" stands for what nobody knows, by their namespaces, as those of words.
	patterns map[string]map[string]struct{}
	full     bool
	bytes    int64
}

// textIn are what Pods are given as text, below the path of a container: also the commands and the hosts of its hooks
// and probes.
var textIn = []string{
	"args[]", "command[]", "env[].value", "lifecycle.*.exec.command[]",
	"livenessProbe.exec.command[]", "readinessProbe.exec.command[]", "startupProbe.exec.command[]",
	"livenessProbe.*.host", "readinessProbe.*.host", "startupProbe.*.host", "lifecycle.*.*.host",
}

// driverTexts are what the spec of a Pod gives the drivers of volumes.
var driverTexts = []string{"volumes[].csi.volumeAttributes.*", "volumes[].flexVolume.options.*"}

// containersIn are the lists of containers in a PodSpec.
var containersIn = []string{"containers[]", "initContainers[]", "ephemeralContainers[]"}

// annotated are kinds that many controllers read annotations of, each its own: some name Secrets and ConfigMaps, also
// in JSON.
var annotated = []string{"Ingress.networking.k8s.io", "Service"}

// noteText takes note of where an object, or a template in it, has text for its Pods.
func (n *node) noteText(s Source) {
	at := func(path string) *node {
		steps, err := parsePath(path)
		if err != nil {
			return &node{} // the error is told elsewhere
		}
		return n.at(steps)
	}
	if slices.Contains(annotated, s.Kind) {
		at("metadata.annotations.*").isText = true
	}
	specs := slices.Clone(s.PodSpecs)
	for _, template := range s.PodTemplates {
		specs = append(specs, join(template, "spec"))
		at(join(template, "metadata.annotations.*")).isText = true
	}
	for _, spec := range specs {
		for _, path := range driverTexts {
			at(join(spec, path)).isText = true
		}
		for _, containers := range containersIn {
			container := join(spec, containers)
			at(container).isContainer = true
			for _, path := range textIn {
				text := at(join(container, path))
				text.isText, text.expands = true, true
			}
		}
		at("metadata.annotations.*").isText = true
	}
}

// isCustom reports whether the kinds of a group are custom resources, of which any word may be a name. Those that
// Kubernetes has defined itself, Gateways and snapshots, say in the table all that they name. So do ours, which would
// else name in their status all that they found unused.
func isCustom(group string) bool {
	isKubernetes := strings.HasSuffix(group, ".k8s.io") && group != sparkGroup
	return strings.Contains(group, ".") && !isKubernetes && group != v1alpha1.GroupVersion.Group
}

// sparkGroup is of another project, and named like those of Kubernetes.
const sparkGroup = "sparkoperator.k8s.io"

// eachWord tells all strings of a custom resource that could be names, or a namespace and a name, whatever their fields
// are called. A key of a map may be a name, too, but one word may as well be the name of a field. Of the metadata it is
// only the annotations: labels and owners are of something else.
func eachWord(o object.JSON, tell func(object.JSON)) {
	for name, value := range o.Fields() {
		if name.Is("metadata") {
			value = value.Field("annotations")
		}
		eachWordIn(value, tell)
	}
}

func eachWordIn(value object.JSON, tell func(object.JSON)) {
	for i := 0; i < len(value); i++ {
		if value[i] != '"' {
			continue
		}
		begin := i
		end, isWord := wordAt(value, begin)
		isKey := end < len(value) && bytes.HasPrefix(bytes.TrimLeft(value[end+1:], " \t\r\n"), []byte(":"))
		if isWord && (!isKey || bytes.ContainsAny(value[begin:end], "-.")) {
			tell(value[begin:])
		}
		i = end
	}
}

// wordAt is where the string ends that begins at a quote, and whether it could be a name, or a namespace and a name.
func wordAt(value object.JSON, begin int) (end int, isWord bool) {
	isWord, slashes := true, 0
	for end = begin + 1; end < len(value) && value[end] != '"'; end++ {
		if value[end] == '/' {
			slashes++
			continue
		}
		isWord = isWord && isNamePart(value[end])
		if value[end] == '\\' {
			end++
		}
	}
	return end, isWord && slashes <= 1 && end-begin <= maxName
}

// addText takes the names in a text of an object. by is the object, or its controller, if it has one.
func (m *mentions) addText(o *object.Parts, by Name, text object.JSON) {
	if m.full {
		return
	}
	eachNameIn(o, text, func(namespace string, word []byte) {
		if namespace == by.Namespace && string(word) == by.Name {
			m.addOwn(by)
		} else {
			m.addWord(namespace, word)
		}
	})
}

// addOwn takes the name of an object that stands in its own text. That shows no use of it, but may mean an object of
// another kind.
func (m *mentions) addOwn(by Name) {
	for _, namespace := range []string{by.Namespace, "*"} {
		k := mentionKey(namespace, by.Name)
		kind, known := m.own[k]
		switch {
		case known && kind != by.GroupKind:
			m.addWord(by.Namespace, []byte(by.Name))
		case !known && len(m.own) < maxMentions:
			if m.own == nil {
				m.own = map[key]schema.GroupKind{}
			}
			m.own[k] = schema.GroupKind{Group: strings.Clone(by.Group), Kind: strings.Clone(by.Kind)}
			m.bytes += int64(64 + len(by.Group) + len(by.Kind))
		}
	}
}

// EachName tells the words of the JSON string that the text begins with that could be names of objects of the
// namespace. With a word and a slash before it, a word may also be a name in another namespace.
func EachName(namespace string, text object.JSON, tell func(namespace string, word []byte)) {
	if text.Type() != object.String {
		return
	}
	text = text[1:]
	begin, before := -1, []byte(nil)
	for i := 0; i < len(text); i++ {
		if isNamePart(text[i]) {
			if begin < 0 {
				begin = i
			}
			continue
		}
		if begin >= 0 {
			tellName(namespace, string(before), text[begin:i], tell)
		}
		if before = nil; begin >= 0 && text[i] == '/' {
			before = text[begin:i]
		}
		begin = -1
		switch text[i] {
		case '"':
			return
		case '\\':
			i += escaped(text[i:])
		}
	}
}

// escaped is how many characters after a backslash stand for one, which is in no name: \n, and \u003c, which is <.
func escaped(text object.JSON) int {
	if len(text) > 1 && text[1] == 'u' {
		return 5
	}
	return 1
}

// tellName tells a word, which may be in the namespace that stands before it, too. Names neither begin nor end with a
// dot or a dash: those are of the sentence, or of a flag. The first label of a word such as web.shop.svc is a name in
// the namespace that is the second, and the second label of kafka-0.kafka.shop.svc in the namespace that is the third.
func tellName(namespace, before string, word []byte, tell func(namespace string, word []byte)) {
	word = bytes.Trim(word, "-.")
	add := func(namespace string, word []byte) {
		if len(word) >= shortestMention {
			tell(namespace, word)
		}
	}
	add(namespace, word)
	if before != "" {
		add(before, word)
	}
	if host, rest, found := bytes.Cut(word, []byte{'.'}); found {
		within, rest, isLonger := bytes.Cut(rest, []byte{'.'})
		add(string(within), host)
		switch after, _, _ := bytes.Cut(rest, []byte{'.'}); {
		case isLonger:
			add(string(after), within)
		case isPodOfSet(host):
			add(namespace, within)
		}
	}
}

// isPodOfSet reports whether a word may be the name of a Pod of a StatefulSet, as in kafka-0.kafka.
func isPodOfSet(word []byte) bool {
	name := bytes.TrimRight(word, "0123456789"+string(anyText))
	return len(name) < len(word) && (len(name) == 0 || name[len(name)-1] == '-')
}

func isNamePart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == anyText
}

func (m *mentions) addWord(namespace string, word []byte) {
	if strings.IndexByte(namespace, anyText) >= 0 {
		namespace = ""
	}
	if m.of != "" && namespace != "" && namespace != m.of {
		return
	}
	if bytes.IndexByte(word, anyText) >= 0 {
		m.addPattern(namespace, patternOf(word))
		return
	}
	if m.words == nil {
		m.words = map[key]struct{}{}
	}
	in := []string{namespace, "*"}
	if m.of != "" {
		in = in[:1]
	}
	for _, namespace := range in {
		k := mentionKey(namespace, string(word))
		if _, known := m.words[k]; known {
			continue
		}
		if m.full = len(m.words) >= maxMentions; m.full {
			return
		}
		m.words[k] = struct{}{}
		m.bytes += 24
	}
}

func mentionKey(namespace, word string) key {
	return key(maphash.Comparable(seed, [2]string{namespace, word}))
}

// MentionsOf makes the Graph keep no more of texts than what could be names of objects of the namespace.
func (g *Graph) MentionsOf(namespace string) { g.mentions.of, g.annotations.of = namespace, namespace }

// IsMentioned reports whether the name stands in text that Pods of the object's namespace are given, or in a custom
// resource of it, or in one that is cluster-scoped. What is cluster-scoped itself may be meant in any namespace.
func (g *Graph) IsMentioned(name Name) bool { return g.mentions.has(name) || g.isInAnnotation(name) }

func (m *mentions) has(name Name) bool {
	if m.full || len(name.Name) < shortestMention {
		return m.full
	}
	for _, in := range []string{cmp.Or(name.Namespace, "*"), ""} {
		k := mentionKey(in, name.Name)
		_, stands := m.words[k]
		if kind, isOwn := m.own[k]; stands || isOwn && kind != name.GroupKind || m.isLikePattern(in, name.Name) {
			return true
		}
	}
	return false
}
