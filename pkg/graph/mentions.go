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
	// shortestMention is how long a name must be to be looked for in text: "app" says nothing. There are few objects that
	// are cluster-scoped, and classes have short names: "gp3". For them it is shortestInCluster.
	shortestMention   = 4
	shortestInCluster = 2
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

// textIn are what Pods are given as text, below the path of a container: also the commands, the hosts and the headers
// of its hooks and probes.
var textIn = []string{
	"args[]", "command[]", "env[].value", "lifecycle.*.exec.command[]",
	"livenessProbe.exec.command[]", "readinessProbe.exec.command[]", "startupProbe.exec.command[]",
	"livenessProbe.*.host", "readinessProbe.*.host", "startupProbe.*.host", "lifecycle.*.*.host",
	"livenessProbe.httpGet.httpHeaders[].value", "readinessProbe.httpGet.httpHeaders[].value",
	"startupProbe.httpGet.httpHeaders[].value", "lifecycle.*.httpGet.httpHeaders[].value",
}

// specTexts are what the spec of a Pod has besides: what it gives the drivers of volumes, and hosts.
var specTexts = []string{
	"volumes[].csi.volumeAttributes.*", "volumes[].flexVolume.options.*", "volumes[].iscsi.targetPortal",
	"volumes[].cephfs.monitors[]", "volumes[].rbd.monitors[]", "volumes[].glusterfs.endpoints",
	"volumes[].quobyte.registry", "volumes[].scaleIO.gateway", "dnsConfig.searches[]", "hostAliases[].hostnames[]",
}

// containersIn are the lists of containers in a PodSpec.
var containersIn = []string{"containers[]", "initContainers[]", "ephemeralContainers[]"}

// annotated are kinds that many controllers read annotations of, each its own: some name Secrets and ConfigMaps, also
// in JSON.
var annotated = []string{
	"Ingress.networking.k8s.io", "Service", "Gateway.gateway.networking.k8s.io", "HTTPRoute.gateway.networking.k8s.io",
	"GRPCRoute.gateway.networking.k8s.io",
}

// noteText takes note of where an object, or a template in it, has text for its Pods.
func (n *node) noteText(s Source) {
	at := func(path string) *node {
		steps, err := parsePath(path)
		if err != nil {
			return &node{} // the error is reported elsewhere
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
		for _, path := range specTexts {
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

// isCustom reports whether the kinds of a group are custom resources, of which any word may be a name. Those of
// Kubernetes itself, Gateways and snapshots say in the table all that their fields name. So do ours, which would else
// name in their status all that they found unused.
func isCustom(group string) bool {
	if group == v1alpha1.GroupVersion.Group || !strings.Contains(group, ".") {
		return false
	}
	name, isKubernetes := strings.CutSuffix(group, ".k8s.io")
	return !isKubernetes || !slices.Contains(ofKubernetes, name)
}

// ofKubernetes are the groups of Kubernetes itself, and those of its projects of which the table has all references,
// without .k8s.io at their end. Other projects, such as Spark's operator and COSI, have such groups, too.
var ofKubernetes = []string{
	"admissionregistration",
	"apiextensions",
	"apiregistration",
	"authentication",
	"authorization",
	"autoscaling",
	"certificates",
	"coordination",
	"custom.metrics",
	"discovery",
	"events",
	"external.metrics",
	"flowcontrol.apiserver",
	"gateway.networking",
	"groupsnapshot.storage",
	"internal.apiserver",
	"metrics",
	"networking",
	"node",
	"rbac.authorization",
	"resource",
	"scheduling",
	"snapshot.storage",
	"storage",
	"storagemigration",
}

// addText takes the names in a text of an object. by is the object, or its controller, if it has one.
func (m *mentions) addText(o *object.Parts, others []string, by Name, text object.JSON) {
	if m.full {
		return
	}
	eachNameIn(o, others, text, func(namespace string, word []byte) {
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

func (m *mentions) addWord(namespace string, word []byte) {
	if m.full {
		return
	}
	if strings.IndexByte(namespace, anyText) >= 0 {
		namespace = ""
	}
	if of := strings.TrimSuffix(namespace, shortName); m.of != "" && of != "" && of != m.of {
		return
	}
	if bytes.IndexByte(word, anyText) >= 0 {
		m.addPattern(namespace, patternOf(word))
		return
	}
	m.keepWord(namespace, word)
}

func (m *mentions) keepWord(namespace string, word []byte) {
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
	shortest := shortestMention
	if name.Namespace == "" {
		shortest = shortestInCluster
	}
	if m.full || len(name.Name) < shortest {
		_, stands := m.words[mentionKey(name.Namespace+shortName, name.Name)]
		return m.full || stands
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
