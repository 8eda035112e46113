// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	operators "k8s.io/apimachinery/pkg/selection"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// maxSelectors is how many selectors of custom resources are kept. Beyond it, any object with labels counts as
// selected.
const maxSelectors = 20_000

// selectable are the kinds that custom resources choose by labels to read, copy or keep them.
var selectable = []schema.GroupKind{configMapKind, secretKind, claimKind}

// customSelectors are the label selectors that stand in custom resources. Of what kind the objects are that one
// selects, only its controller knows: it may be those that are looked at.
type customSelectors struct {
	// byLabel has each selector once, by a label that it asks for: "key=value", or the key where several values will do.
	byLabel map[string][]selecting
	// texts are the selectors that are kept.
	texts map[string]bool
	full  bool
}

// selecting is one selector, with the custom resource that has it first.
type selecting struct {
	by       Name
	path     string
	selector labels.Selector
}

// add keeps the selectors of a custom resource. It returns the number of bytes that it keeps.
func (s *customSelectors) add(o *object.Parts) (bytes int64) {
	if selectsOthers(o.Kind.Group) || !mayHaveSelector(o.Raw) {
		return 0
	}
	by := NameOf(o.Object)
	for name, value := range object.JSON(o.Raw).Fields() {
		if !name.Is("metadata") && !name.Is("status") {
			eachSelector(name.String(), name.String(), value, 0, func(path string, r []labels.Requirement) {
				bytes += s.keep(by, path, r)
			})
		}
	}
	return bytes
}

func (s *customSelectors) keep(by Name, path string, requirements []labels.Requirement) int64 {
	keys := s.index(requirements)
	selector := labels.NewSelector().Add(requirements...)
	text := selector.String()
	if len(keys) == 0 || s.full || s.texts[text] {
		return 0
	}
	if s.full = len(s.texts) >= maxSelectors; s.full {
		return 0
	}
	if s.texts == nil {
		s.texts, s.byLabel = map[string]bool{}, map[string][]selecting{}
	}
	s.texts[text] = true
	kept, bytes := selecting{clonedName(by), strings.Clone(path), selector}, 512+len(text)+len(path)+sizeOf(selector)
	for _, key := range keys {
		s.byLabel[key] = append(s.byLabel[key], kept)
		bytes += 144 + len(key)
	}
	return int64(bytes)
}

// sizeOf is how many bytes a selector takes, with a set of the values of each requirement.
func sizeOf(selector labels.Selector) (bytes int) {
	requirements, _ := selector.Requirements()
	for i := range requirements {
		bytes += 128 + len(requirements[i].Key())
		for value := range requirements[i].Values() {
			bytes += 64 + len(value)
		}
	}
	return bytes
}

// index are the keys of byLabel for a selector, those under which the fewest are: each object that it selects has one
// of these labels. It is empty for a selector that asks for no label, which would select almost everything.
func (s *customSelectors) index(requirements []labels.Requirement) (keys []string) {
	fewest := 0
	for i := range requirements {
		var of []string
		switch r := &requirements[i]; r.Operator() {
		case operators.Equals, operators.DoubleEquals, operators.In:
			for value := range r.Values() {
				of = append(of, r.Key()+"="+value)
			}
		case operators.Exists, operators.GreaterThan, operators.LessThan:
			of = []string{r.Key()}
		default:
			continue
		}
		under := 0
		for _, key := range of {
			under += len(s.byLabel[key])
		}
		if keys == nil || under < fewest {
			keys, fewest = of, under
		}
	}
	return keys
}

// first is a selector that selects an object with these labels, always the same one.
func (s *customSelectors) first(set labels.Set) (first selecting, ok bool) {
	for _, key := range slices.Sorted(maps.Keys(set)) {
		for _, k := range []string{key + "=" + set[key], key} {
			for _, kept := range s.byLabel[k] {
				if kept.selector.Matches(set) {
					return kept, true
				}
			}
		}
	}
	return selecting{}, false
}

// selectedBy takes an object that passes as one that custom resources may select.
func (g *Graph) selectedBy(o object.Object) {
	s := &g.inCustom
	if len(s.texts) == 0 || !slices.Contains(selectable, o.Kind.GroupKind()) || g.IsLive(NameOf(o)) {
		return
	}
	set := labelSet(object.JSON(o.Raw).At("metadata", "labels"))
	name := NameOf(o)
	if kept, ok := s.first(set); ok {
		edge := Edge{To: name, Path: kept.path, Optional: true, Strength: Hints}
		g.name(edge, g.user(kept.by), false)
		g.witness(kept.by, edge)
	} else if s.full && len(set) > 0 {
		g.name(Edge{To: name, Strength: Hints}, anonymous, false)
	}
}

// othersSelected are groups whose custom resources select Pods, Services, hosts or resources of their own group.
var othersSelected = []string{
	"azmonitoring.coreos.com", "chaos-mesh.org", "cilium.io", "constraints.gatekeeper.sh", "crd.projectcalico.org",
	"kuma.io", "monitoring.coreos.com", "monitoring.googleapis.com", "monitoring.rhobs",
	"operator.victoriametrics.com", "policy.linkerd.io", "projectcalico.org",
}

func selectsOthers(group string) bool {
	return slices.Contains(othersSelected, group) || strings.HasSuffix(group, ".istio.io")
}

// mayHaveSelector tells most resources apart that have none, at little cost.
func mayHaveSelector(raw []byte) bool {
	words := []string{"elector", "matchLabels", "matchExpressions", `"labelFilters"`, `"labels":[`, `"labels": [`}
	for _, word := range words {
		if bytes.Contains(raw, []byte(word)) {
			return true
		}
	}
	return false
}
