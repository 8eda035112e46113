// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

var (
	storageClassKind  = schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
	priorityClassKind = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
)

// quotaOfClass ends the name of a class of storage in the names of what a quota limits.
const quotaOfClass = ".storageclass.storage.k8s.io/"

// addQuotas adds the classes of storage that a ResourceQuota limits.
func addQuotas(w *walker) {
	for name := range w.object.At("spec", "hard").Fields() {
		if class, _, found := strings.Cut(name.String(), quotaOfClass); found {
			w.named(Name{GroupKind: storageClassKind, Name: class}, "spec.hard", Names)
		}
	}
}

// addParameters adds the Secrets that the parameters of a class name in the words of its driver.
func addParameters(w *walker) {
	parameters := w.object.Field("parameters")
	w.from = "parameters"
	for name, value := range parameters.Fields() {
		if to, ok := looksLike(name.String()); ok && to == secretKind && value.Type() == object.String {
			w.path = append(w.path[:0], name)
			w.guessNamed(to, name.String(), value, parameters)
		}
	}
	w.path = nil
}

// addDevices adds what looks like a reference in the parameters for drivers of devices. For other kinds, nobody would
// read the objects that have them.
func addDevices(w *walker) {
	each := w.each
	defer func() { w.each = each }()
	w.each = func(edge Edge) {
		if slices.Contains(inDevices, edge.To.GroupKind) {
			each(edge)
		}
	}
	spec := w.object.Field("spec")
	for _, configs := range []object.JSON{
		spec.Field("config"), spec.At("devices", "config"), spec.At("spec", "devices", "config"),
	} {
		for config := range configs.Elements() {
			w.from = "spec...opaque.parameters"
			w.guess(config.At("opaque", "parameters"))
		}
	}
}

// addPriorities adds the priority classes of groups of Pods, at any depth: groups may hold groups.
func addPriorities(w *walker) { w.addPrioritiesIn(w.object.Field("spec"), 0) }

func (w *walker) addPrioritiesIn(value object.JSON, depth int) {
	if depth > maxDepth {
		return
	}
	switch value.Type() {
	case object.Map:
		class := value.Field("priorityClassName").Text()
		w.named(Name{GroupKind: priorityClassKind, Name: class}, "spec...priorityClassName", Names)
		for _, field := range value.Fields() {
			w.addPrioritiesIn(field, depth+1)
		}
	case object.List:
		for element := range value.Elements() {
			w.addPrioritiesIn(element, depth+1)
		}
	}
}
