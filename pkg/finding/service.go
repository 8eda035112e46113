// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func serviceRows() []*row {
	return []*row{
		{
			kind:       services,
			typ:        v1alpha1.FindingUnused,
			actionable: true,
			named:      true,
			cascades:   true,
			pods:       true,
			body:       true,
			likely:     true,
			reads:      []schema.GroupKind{endpointSlices},
			look:       lookService,
			judge:      judgeService,
			means:      "it has no endpoint, ready or not, its selector matches no Pod or template, and nothing names it",
		},
	}
}

// servesWithoutPods says why a Service that has no Pods may be of use. Empty of others.
func servesWithoutPods(o *object.Parts) string {
	spec := o.At("spec")
	switch typ := spec.Field("type").Text(); {
	case typ == "ExternalName":
		return "it is of type ExternalName"
	case len(labelsAt(spec.Field("selector"))) == 0:
		return "it has no selector, so somebody else makes its endpoints"
	case typ == "LoadBalancer":
		for range o.At("status", "loadBalancer", "ingress").Elements() {
			return ""
		}
		return "it waits for the address of its load balancer"
	}
	return ""
}

// lookService looks at what selects Pods.
func lookService(f *Finder, o *object.Parts) *candidate {
	if servesWithoutPods(o) != "" {
		return nil
	}
	spec := o.At("spec")
	f.graph.Select(graph.NameOf(o.Object), labels.SelectorFromSet(labelsAt(spec.Field("selector"))))
	c := &candidate{mayUse: servedElsewhere(o)}
	if spec.Field("type").Text() == "LoadBalancer" {
		c.found = &Finding{Frees: Resources{LoadBalancers: 1}}
	}
	return c
}

// elsewhereBy are annotations and labels, or their beginnings, by which a Service has endpoints in other clusters.
var elsewhereBy = []string{
	"service.cilium.io/global",
	"service.cilium.io/shared",
	"io.cilium/global-service",
	"multicluster.linkerd.io/",
	"mirror.linkerd.io/exported",
	"istio.io/global",
}

// meshMarks are labels of namespaces whose Services Istio joins with those of the same name in other clusters, and what
// they must be. Empty for any value.
var meshMarks = map[string]string{
	"istio-injection": "enabled", "istio.io/rev": "", "istio.io/dataplane-mode": "ambient",
}

// mesh takes note of a namespace that is part of a mesh of Istio.
func (n *notes) mesh(o *object.Parts) {
	for name, wanted := range meshMarks {
		if value := label(o, name); value != "" && (wanted == "" || value == wanted) {
			n.meshed[strings.Clone(o.Name)] = true
			n.bytes += int64(64 + len(o.Name))
		}
	}
}

// readsMesh reports whether it matters which namespaces are part of a mesh.
func (f *Finder) readsMesh() bool {
	isService := func(r *row) bool { return r.kind == services && r.typ == v1alpha1.FindingUnused }
	return f.hasMesh() && slices.ContainsFunc(f.rows, isService)
}

func (f *Finder) hasMesh() bool {
	return slices.ContainsFunc(f.Served, func(kind object.Kind) bool { return strings.HasSuffix(kind.Group, ".istio.io") })
}

// inMesh says that a mesh may serve a Service from another cluster. Empty when nothing says so.
func (f *Finder) inMesh(c *candidate) string {
	switch {
	case c.row.kind != services || !f.hasMesh():
		return ""
	case f.meshed[c.namespace]:
		return "its namespace is part of a mesh of Istio, and other clusters of that may serve it"
	case f.unread[namespaces] != nil:
		return "its namespace may be part of a mesh of Istio, and Namespaces could not be read"
	}
	return ""
}

// servedElsewhere says that other clusters may serve a Service. Empty when nothing says so.
func servedElsewhere(o *object.Parts) string {
	for _, marks := range []string{"annotations", "labels"} {
		for name, value := range o.At("metadata", marks).Fields() {
			begins := func(begin string) bool { return strings.HasPrefix(name.String(), begin) }
			if slices.ContainsFunc(elsewhereBy, begins) && value.Text() != "false" {
				return "other clusters may serve it, by its mark " + name.String()
			}
		}
	}
	return ""
}

func judgeService(f *Finder, c *candidate) *Finding {
	if f.hasEndpoint(c.namespace, c.name) {
		return nil
	}
	name := c.object()
	use, selected := f.graph.Use(name), f.graph.Selected(name)
	use.Live = use.Live || selected.Live
	use.Users = append(use.Users, selected.Users...)
	found := f.judgeUse(c, use)
	if found != nil && found.Type == v1alpha1.FindingUnused && len(found.Unknown) == 0 {
		found.Reason = "it has no endpoint, ready or not, its selector matches no Pod or template, and " + found.Reason
	}
	return found
}

// labelsAt reads a map of texts.
func labelsAt(value object.JSON) labels.Set {
	set := labels.Set{}
	for name, text := range value.Fields() {
		set[name.String()] = text.Text()
	}
	return set
}
