// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"hash/maphash"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	operators "k8s.io/apimachinery/pkg/selection"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// given are the labels that stand in custom resources, by their namespaces: controllers give Pods such labels.
type given struct {
	labels map[key]struct{}
	// deep are the namespaces of custom resources that were not read to their innermost values: they may give any label.
	deep  map[string]bool
	full  bool
	bytes int64
}

// add takes all maps of labels in a value, whose field ends with "labels": "podLabels", but not "matchLabels", which
// choose Pods.
func (g *given) add(namespace string, value object.JSON, depth int) {
	if depth > maxDepth {
		if g.deep == nil {
			g.deep = map[string]bool{}
		}
		g.deep[strings.Clone(namespace)] = true
		return
	}
	switch value.Type() {
	case object.Map:
		for name, field := range value.Fields() {
			if isLabels(name.String()) {
				for label, text := range field.Fields() {
					g.addLabel(namespace, label.String(), text.Text())
				}
				continue
			}
			g.add(namespace, field, depth+1)
		}
	case object.List:
		for element := range value.Elements() {
			g.add(namespace, element, depth+1)
		}
	}
}

func isLabels(field string) bool {
	return field != "matchLabels" && (strings.HasSuffix(field, "labels") || strings.HasSuffix(field, "Labels"))
}

func (g *given) addLabel(namespace, label, value string) {
	if g.full = g.full || len(g.labels) >= maxMentions; g.full {
		return
	}
	if g.labels == nil {
		g.labels = map[key]struct{}{}
	}
	for _, value := range []string{value, anyValue} {
		k := labelKey(namespace, label, value)
		if _, known := g.labels[k]; !known {
			g.labels[k] = struct{}{}
			g.bytes += 24
		}
	}
}

// anyValue stands for all values of a label.
const anyValue = "*"

func labelKey(namespace, label, value string) key {
	return key(maphash.Comparable(seed, [3]string{namespace, label, value}))
}

func (g *given) has(namespace, label, value string) bool {
	_, in := g.labels[labelKey(namespace, label, value)]
	_, everywhere := g.labels[labelKey("", label, value)]
	return g.full || g.deep[namespace] || g.deep[""] || in || everywhere
}

// addGiven takes the labels in what somebody wants of a custom resource.
func (g *Graph) addGiven(o object.Object) {
	for name, field := range object.JSON(o.Raw).Fields() {
		if !name.Is("metadata") && !name.Is("status") {
			g.given.add(o.Namespace, field, 0)
		}
	}
}

// MaySet reports whether a controller may make Pods that the selector of an object matches: custom resources of its
// namespace give each label that it asks for, or have the name that is its value, or are of the group that the label's
// name begins with. If it asks for no label, it matches the Pods of any custom resource.
func (g *Graph) MaySet(by Name) bool {
	s := g.selection(by)
	if s == nil {
		return false
	}
	requirements, selects := s.selector.Requirements()
	if !selects {
		return false
	}
	asks := false
	for i := range requirements {
		switch r := &requirements[i]; r.Operator() {
		case operators.NotIn, operators.NotEquals, operators.DoesNotExist:
		default:
			if asks = true; !g.maySet(by.Namespace, r) {
				return false
			}
		}
	}
	return asks || g.hasCustom(by.Namespace)
}

// hasCustom reports whether there are custom resources in a namespace.
func (g *Graph) hasCustom(namespace string) bool {
	for _, kind := range g.table.CustomKinds() {
		if _, present := g.present[groupName(namespace, kind.Group).key()]; present {
			return true
		}
	}
	return false
}

func (g *Graph) maySet(namespace string, r *labels.Requirement) bool {
	if len(r.Values()) == 0 && g.given.has(namespace, r.Key(), anyValue) { // any will do
		return true
	}
	for value := range r.Values() {
		if _, isCustom := g.Custom(namespace, value); isCustom || g.given.has(namespace, r.Key(), value) {
			return true
		}
	}
	return g.mayMark(namespace, r.Key())
}

// mayMark reports whether custom resources of a namespace are of the group that the name of a label begins with.
func (g *Graph) mayMark(namespace, label string) bool {
	domain, label, _ := strings.Cut(label, "/")
	if !strings.Contains(domain, ".") {
		return false
	}
	if strings.HasSuffix(label, "name") || label == "cluster" || label == "instance" {
		return false // its value would be the name of one that is there
	}
	for _, kind := range g.table.CustomKinds() {
		isOf := domain == kind.Group || strings.HasSuffix(domain, "."+kind.Group) ||
			strings.HasSuffix(kind.Group, "."+domain)
		if _, present := g.present[groupName(namespace, kind.Group).key()]; isOf && present {
			return true
		}
	}
	return false
}

// groupName stands for the custom resources of a group in a namespace.
func groupName(namespace, group string) Name {
	return Name{GroupKind: schema.GroupKind{Group: group, Kind: "*"}, Namespace: namespace}
}
